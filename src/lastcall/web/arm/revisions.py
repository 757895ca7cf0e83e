"""What a request to write a set asks for; what becomes of it is decided in `app.revisions`."""

from lastcall.app.revisions import Change
from lastcall.web.arm.conditions import conditions
from lastcall.web.arm.front_door import api_version, key_of
from lastcall.web.routing import Call
from lastcall.wire.bodies import parse_body
from lastcall.wire.members import refuse_members
from lastcall.wire.names import refuse_name, refuse_resource_group_name


async def parse_change(call: Call, *, may_create: bool) -> Change:
    """Return what a request asks for, or refuse."""
    key = key_of(call)
    if may_create:
        refuse_resource_group_name(key.resource_group)
        refuse_name(key.name)
    body = await call.body()
    patch = parse_body(body)
    refuse_members(patch, api_version(call), body)
    wanted = conditions(call)
    return Change(
        key=key,
        patch=patch,
        may_create=may_create,
        if_match=wanted.if_match,
        must_be_new=wanted.must_be_new,
    )
