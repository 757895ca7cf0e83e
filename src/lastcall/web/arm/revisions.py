"""What a request to write a set asks for; what becomes of it is decided in `app.revisions`."""

from lastcall.app.revisions import Change, checked
from lastcall.web.arm.conditions import conditions
from lastcall.web.arm.front_door import api_version, key_of
from lastcall.web.routing import Call
from lastcall.wire.bodies import parse_body
from lastcall.wire.members import refuse_members


async def parse_change(call: Call, *, may_create: bool) -> Change:
    """Return what a request asks for, or refuse."""
    key, body = key_of(call), await call.body()
    patch = parse_body(body)
    if may_create:
        checked(key, patch, api_version(call), body)
    else:
        refuse_members(patch, api_version(call), body)
    return Change(key=key, patch=patch, may_create=may_create, conditions=conditions(call))
