"""Where clients are sent: to the control address, under the name that they know it by."""

from lastcall.web.routing import Call


def control_of(call: Call, control: str) -> str:
    """Return the control address as the client wrote it, or our own where it came another way."""
    return call.base if call.base.startswith("https://") else control
