"""Who may have a token, and who is it that holds one."""

import asyncio
from collections.abc import Sequence
from typing import Final

from lastcall.app import managed, principals
from lastcall.app.hashing import NOBODYS, hashed, is_same
from lastcall.app.platform import Platform
from lastcall.app.principals import Principal
from lastcall.app.tokens import Holder, InvalidTokenError, Token, Tokens
from lastcall.engine.errors import ConflictError, OperationNotAllowedError
from lastcall.engine.limits import MACHINE_TOKEN_LIFETIME, TOKEN_LIFETIME
from lastcall.engine.value import Value

DEFAULT_NAME: Final = "default"


class InvalidClientError(Exception):
    """There is no such client, or its secret is another."""


class Client(Value, frozen=True):
    """Somebody with the secret that proves it."""

    holder: Holder
    secret: str


class Authority:
    """Knows everybody who may sign in: the folder's own principal, and those who were added.

    The folder's own one is not in the store: whoever may read the folder may be it.
    """

    def __init__(self, platform: Platform, tokens: Tokens, own: Client) -> None:
        self._platform = platform
        self.tokens = tokens
        self.own = own.holder
        self._secret = own.secret

    async def sign_in(self, app_id: str, secret: str, resource: str) -> Token:
        """Return a token for whoever knows the secret of a principal."""
        holder = await self._identify(app_id, secret)
        if holder is None:
            raise InvalidClientError
        return await self.tokens.issue(holder, resource, TOKEN_LIFETIME)

    async def grant_own(self, resource: str) -> Token:
        """Return a token of the folder's own principal, for those who need not prove anything."""
        return await self.tokens.issue(self.own, resource, MACHINE_TOKEN_LIFETIME)

    async def grant_machine(self, identity: Holder, resource: str) -> Token:
        """Return a token of a machine's identity."""
        return await self.tokens.issue(identity, resource, MACHINE_TOKEN_LIFETIME)

    async def admit(self, text: str) -> Holder:
        """Return who holds a token, or refuse; who was deleted is out at once."""
        holder = await self.tokens.holder(text)
        if holder.app_id == self.own.app_id:
            return holder
        if holder.resource_id:
            if not await self._platform.read(lambda r: managed.is_assigned(r, holder)):
                raise InvalidTokenError(
                    "The identity of the access token belongs to a machine's resource that has been"
                    " deleted or no longer assigns it."
                )
            return holder
        if await self._platform.read(lambda r: principals.find(r, holder.app_id)) is None:
            raise InvalidTokenError("The principal of the access token has been deleted.")
        return holder

    async def everyone(self) -> Sequence[Principal]:
        """Return those who were added."""
        return await self._platform.read(principals.everyone)

    async def create(self, name: str) -> tuple[Principal, str]:
        """Add a principal; return it with its secret, which nobody can be told again."""
        if name.lower() == DEFAULT_NAME:
            raise ConflictError(f"There is a principal '{name}' already.")
        ids = self._platform.moment().ids
        secret = ids.secret()
        kept = await asyncio.to_thread(hashed, secret, ids.secret())
        made = await self._platform.transact(
            lambda tx, moment: principals.create(tx, name, kept, moment)
        )
        return made, secret

    async def delete(self, which: str) -> None:
        """Remove a principal by its application id or its name."""
        if which.lower() in (DEFAULT_NAME, self.own.app_id):
            raise OperationNotAllowedError(
                "The default principal belongs to the state folder and cannot be deleted; it gets"
                " a new secret when principal.json is removed before a start."
            )
        await self._platform.transact(lambda tx, _moment: principals.delete(tx, which))

    async def _identify(self, app_id: str, secret: str) -> Holder | None:
        # Both are always looked at, so that the time does not tell who exists.
        is_own = is_same(app_id.lower(), self.own.app_id) & is_same(secret, self._secret)
        found = await self._platform.read(lambda reader: principals.find(reader, app_id))
        kept = NOBODYS if found is None else found.secret
        is_right = await asyncio.to_thread(kept.is_of, secret)
        if is_own:
            return self.own
        if found is None or not is_right:
            return None
        return Holder(app_id=found.app_id, object_id=found.object_id, name=found.name)
