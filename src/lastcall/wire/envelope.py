"""How the control plane says no. Apart from all else: whatever answers needs it."""

from typing import Any

Json = dict[str, Any]


def encode_error(code: str, message: str, target: str | None = None) -> Json:
    """Return a refusal in the envelope that every client of the control plane reads."""
    error: Json = {"code": code, "message": message}
    if target is not None:
        error["target"] = target
    return {"error": error}
