"""Service principals: who may sign in at the control address."""

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct
from starlette.responses import Response

from lastcall.app.authority import DEFAULT_NAME, Authority
from lastcall.engine.limits import NAME_CHARACTERS_MAX
from lastcall.web.admin.bodies import PAGING, ROOT, page, parse
from lastcall.web.routing import Call, Route, json

Name = Annotated[
    str, Meta(min_length=1, max_length=NAME_CHARACTERS_MAX, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
]


class NewPrincipal(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Somebody who is to sign in."""

    name: Name


class PrincipalView(Struct, frozen=True, kw_only=True, rename="camel"):
    """One principal; the default one came with the state folder."""

    app_id: str
    object_id: str
    name: str
    tenant: str
    created_at: datetime | None


class PrincipalWithSecret(PrincipalView, frozen=True, kw_only=True, rename="camel"):
    """A principal with its secret, which is shown this once."""

    secret: str


class PrincipalList(Struct, frozen=True):
    """Some principals; `next` is the `skip` of the next page."""

    value: list[PrincipalView]
    next: int | None


class Principals:
    """Handlers for principals."""

    def __init__(self, authority: Authority) -> None:
        self._authority = authority
        self._tenant = authority.tokens.tenant

    async def list(self, call: Call) -> Response:
        """List those who may sign in, the default one first."""
        own = self._authority.own
        default = PrincipalView(
            app_id=own.app_id,
            object_id=own.object_id,
            name=DEFAULT_NAME,
            tenant=self._tenant,
            created_at=None,
        )
        added = [
            PrincipalView(
                app_id=each.app_id,
                object_id=each.object_id,
                name=each.name,
                tenant=self._tenant,
                created_at=each.created_at,
            )
            for each in await self._authority.everyone()
        ]
        found, following = page(call, [default, *added])
        return json(PrincipalList(found, following))

    async def create(self, call: Call) -> Response:
        """Add a principal, and show its secret this once."""
        wanted = await parse(call, NewPrincipal)
        made, secret = await self._authority.create(wanted.name)
        shown = PrincipalWithSecret(
            app_id=made.app_id,
            object_id=made.object_id,
            name=made.name,
            tenant=self._tenant,
            created_at=made.created_at,
            secret=secret,
        )
        return json(shown, 201, {"Cache-Control": "no-store"})

    async def delete(self, call: Call) -> Response:
        """Remove a principal; its tokens are worth nothing from then on."""
        await self._authority.delete(call.names["principal"])
        return Response(None, 204)


def routes(authority: Authority) -> Iterator[Route]:
    """Yield the operations on principals."""
    principals = Principals(authority)
    yield Route(
        method="GET",
        path=f"{ROOT}/principals",
        handler=principals.list,
        summary="List those who may sign in",
        gives=PrincipalList,
        query=PAGING,
    )
    yield Route(
        method="POST",
        path=f"{ROOT}/principals",
        handler=principals.create,
        summary="Add a principal; its secret is shown this once",
        answers=(201,),
        takes=NewPrincipal,
        gives=PrincipalWithSecret,
    )
    yield Route(
        method="DELETE",
        path=f"{ROOT}/principals/{{principal}}",
        handler=principals.delete,
        summary="Remove a principal, by its application id or its name",
        answers=(204,),
    )
