"""Whole HTTP answers as bytes, and the one table from refusals to status codes."""

import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import msgspec

from lastcall.engine.errors import (
    ConflictError,
    DomainError,
    InstanceNotFoundError,
    ResourceNotFoundError,
    ScopeNotFoundError,
)
from lastcall.ports import SignerUnavailableError, StoreUnavailableError

logger = logging.getLogger(__name__)

JSON = "application/json; charset=utf-8"
TEXT = "text/plain; charset=utf-8"
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"

STATUS_OF: dict[type[Exception], int] = {
    DomainError: 400,
    InstanceNotFoundError: 404,
    ResourceNotFoundError: 404,
    ScopeNotFoundError: 404,
    ConflictError: 409,
    SignerUnavailableError: 503,
    StoreUnavailableError: 503,
}


class RefusedError(Exception):
    """The request is answered with an error: its status, its sentence, and what goes with it."""

    def __init__(
        self,
        status: int,
        sentence: str,
        *,
        headers: Mapping[str, str] | None = None,
        members: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(sentence)
        self.status = status
        self.headers = headers or {}
        self.members = members or {}


def encode_answer(
    status: int, body: bytes, content_type: str = JSON, headers: Mapping[str, str] | None = None
) -> bytes:
    """Return an answer that keeps the connection; one without a body has no type either."""
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}"]
    if body:
        lines.append(f"Content-Type: {content_type}")
    lines.append(f"Content-Length: {len(body)}")
    lines.extend(f"{name}: {value}" for name, value in (headers or {}).items())
    return "\r\n".join([*lines, "\r\n"]).encode() + body


def encode_refusal(refused: RefusedError) -> bytes:
    """Return a refusal in the shape that clients parse (R10)."""
    body = msgspec.json.encode({"error": str(refused), **refused.members})
    return encode_answer(refused.status, body, headers=refused.headers)


def encode_failure(error: BaseException) -> bytes:
    """Return the answer to a request that ended in an exception, whatever it was."""
    if isinstance(error, RefusedError):
        return encode_refusal(error)
    status = next((STATUS_OF[kind] for kind in type(error).__mro__ if kind in STATUS_OF), 500)
    if status == 503:
        sentence = "The platform cannot record anything at present; ask again."
        return encode_refusal(RefusedError(503, sentence, headers={"Retry-After": "1"}))
    if status == 500:
        logger.error("A metadata request failed.", exc_info=error, extra={"action": "failed"})
        return encode_refusal(RefusedError(500, "Internal error; ask again."))
    return encode_refusal(RefusedError(status, str(error)))


def closing(answer: bytes) -> bytes:
    """Return the same answer, saying that it is the last on its connection."""
    return answer.replace(b"\r\n", b"\r\nConnection: close\r\n", 1)


def without_body(answer: bytes) -> bytes:
    """Return the same answer to a HEAD, whose client reads no body."""
    return answer[: answer.index(b"\r\n\r\n") + 4]
