"""What a machine can learn of itself, and the tokens it gets.

It is loaded with the first such request: most guests ask for events alone.
"""

import msgspec

from lastcall.app.authority import Authority
from lastcall.app.machines import owner
from lastcall.app.managed import IdentityNotFoundError, choose, encode_machine_token
from lastcall.app.platform import Platform
from lastcall.app.tokens import Holder
from lastcall.engine.model import Machine, ScopeId
from lastcall.metadata.answers import encode_answer
from lastcall.metadata.filtering import encode_part
from lastcall.metadata.instance import Membership, Residence, encode_instance, residence
from lastcall.metadata.routes import ReadInstance, ReadToken, refused_token
from lastcall.wire.names import scale_set_path


async def read_instance(
    platform: Platform, machine: Machine, scope_id: ScopeId, wish: ReadInstance
) -> bytes:
    """Return the answer to /metadata/instance."""
    home = await _home(platform, machine)
    value = encode_instance(machine, scope_id, home, wish.version)
    return encode_part(value, wish.path, as_text=wish.as_text)


async def issue_token(
    platform: Platform, authority: Authority, machine: Machine, wish: ReadToken
) -> bytes:
    """Give a token of the identity that the machine's model assigns it, if it does."""
    home = await _home(platform, machine)
    try:
        identity = _identity(home, wish)
    except IdentityNotFoundError as missing:
        raise refused_token(missing) from missing
    token = await authority.grant_machine(identity, wish.resource)
    body = msgspec.json.encode(encode_machine_token(token))
    return encode_answer(200, body, headers={"Cache-Control": "no-store"})


async def _home(platform: Platform, machine: Machine) -> Membership | Residence | None:
    set_id = machine.set_id
    if set_id is None:
        resource = await platform.read(lambda reader: owner(reader, machine))
        return None if resource is None else residence(machine, resource)
    scale_set, model = await platform.read(
        lambda reader: (reader.scale_set(set_id), reader.document(set_id, machine.booted))
    )
    return Membership(scale_set, msgspec.json.decode(model))


def _identity(home: Membership | Residence | None, wish: ReadToken) -> Holder:
    if home is None:
        raise IdentityNotFoundError
    path = home.resource.path if isinstance(home, Residence) else scale_set_path(home.scale_set)
    return choose(home.model, path, wish.wanted)
