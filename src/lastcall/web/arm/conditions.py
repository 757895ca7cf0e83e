"""If-Match and If-None-Match of a write (R100)."""

from lastcall.app.conditions import ANY, Conditions
from lastcall.engine.errors import DomainError
from lastcall.web.routing import Call
from lastcall.wire.quoting import shown


def conditions(call: Call) -> Conditions:
    """Return the conditions of a request; of If-None-Match only `*` is known."""
    none_match = call.header("if-none-match")
    if none_match is not None and none_match.strip() != ANY:
        raise DomainError(
            f"The value '{shown(none_match)}' of If-None-Match is not supported; only '*' is.",
            target="If-None-Match",
        )
    return Conditions(if_match=call.header("if-match"), must_be_new=none_match is not None)
