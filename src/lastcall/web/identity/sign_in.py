"""What signing in needs to know of a server."""

from dataclasses import dataclass

from lastcall.app.authority import Authority


@dataclass(frozen=True, slots=True)
class SignIn:
    """Who gives tokens, and the control address, where they are asked for and needed."""

    authority: Authority
    control: str
