"""The only place where a refusal becomes a status, and the only one that builds the envelope."""

import logging
from collections.abc import Awaitable
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ExceptionHandler

from lastcall.app import tokens
from lastcall.app.managed import IdentityNotFoundError
from lastcall.engine import errors
from lastcall.engine.errors import DomainError, InvalidRequestContentError
from lastcall.ports import SignerUnavailableError, StoreUnavailableError
from lastcall.wire.bodies import encode_json, encode_pretty
from lastcall.wire.envelope import encode_error

logger = logging.getLogger(__name__)

JSON: Final = "application/json; charset=utf-8"
RETRY_AFTER: Final = {"Retry-After": "1"}


class SubscriptionNotFoundError(DomainError):
    """The subscription could not be found."""

    code = "SubscriptionNotFound"


class PathNotFoundError(DomainError):
    """There is nothing at this address."""

    code = "NotFound"


class MethodNotAllowedError(DomainError):
    """The resource does not have that method."""

    code = "MethodNotAllowed"

    def __init__(self, method: str, allowed: tuple[str, ...]) -> None:
        super().__init__(
            f"The method '{method[:20]}' is not supported here; allowed are {', '.join(allowed)}."
        )
        self.allowed = allowed


class RequestTooLargeError(DomainError):
    """The request body is too large."""

    code = "RequestEntityTooLarge"


class UnsupportedMediaTypeError(DomainError):
    """The content media type is not supported."""

    code = "UnsupportedMediaType"


class RequestTimeoutError(DomainError):
    """The request did not arrive in time."""

    code = "RequestTimeout"


class TooManyListenersError(DomainError):
    """So many clients follow the stream already that another one is not served."""

    code = "TooManyRequests"


class NotBuiltError(DomainError):
    """The service has this operation; it is not built here."""

    code = "NotImplemented"


class ForeignRequestError(DomainError):
    """Requests are answered only at a loopback address, and only for pages of this server."""

    code = "Forbidden"


STATUS_OF: Final[dict[type[DomainError], int]] = {
    DomainError: 400,
    errors.InvalidParameterError: 400,
    InvalidRequestContentError: 400,
    errors.LocationRequiredError: 400,
    errors.MissingApiVersionError: 400,
    errors.InvalidApiVersionError: 400,
    errors.InvalidTemplateError: 400,
    errors.InvalidTemplateDeploymentError: 400,
    errors.InvalidResourceGroupError: 400,
    errors.LocationNotAvailableForResourceGroupError: 400,
    errors.NoRegisteredProviderFoundError: 400,
    errors.InvalidResourceNameError: 400,
    errors.InvalidFilterError: 400,
    IdentityNotFoundError: 400,
    tokens.AuthenticationError: 401,
    tokens.InvalidTokenError: 401,
    tokens.ExpiredTokenError: 401,
    tokens.WrongAudienceError: 401,
    ForeignRequestError: 403,
    errors.EventNotFoundError: 404,
    errors.ScopeNotFoundError: 404,
    errors.ResourceNotFoundError: 404,
    errors.ResourceGroupNotFoundError: 404,
    errors.ParentResourceNotFoundError: 404,
    errors.InvalidResourceNamespaceError: 404,
    errors.InstanceNotFoundError: 404,
    SubscriptionNotFoundError: 404,
    PathNotFoundError: 404,
    errors.InvalidResourceTypeError: 404,
    MethodNotAllowedError: 405,
    RequestTimeoutError: 408,
    errors.OperationNotAllowedError: 409,
    errors.ConflictError: 409,
    errors.IllegalTransitionError: 409,
    errors.PropertyChangeNotAllowedError: 409,
    errors.ResourceGroupBeingDeletedError: 409,
    errors.InvalidResourceGroupLocationError: 409,
    errors.InvalidResourceLocationError: 409,
    errors.QuotaExceededError: 409,
    errors.PreconditionFailedError: 412,
    RequestTooLargeError: 413,
    UnsupportedMediaTypeError: 415,
    TooManyListenersError: 429,
    NotBuiltError: 501,
}

# R110, R113: what the compute provider says is pretty-printed; the rest is ARM's own, compact.
FROM_PROVIDER: Final = frozenset(
    {
        DomainError,
        errors.InvalidParameterError,
        errors.InstanceNotFoundError,
        errors.OperationNotAllowedError,
        errors.ConflictError,
        errors.IllegalTransitionError,
        errors.PropertyChangeNotAllowedError,
        errors.PreconditionFailedError,
    }
)

CODE_OF_STATUS: Final = {404: "NotFound", 405: "MethodNotAllowed"}


def refusal(error: DomainError) -> Response:
    """Answer a refusal in the envelope that every client already reads."""
    kind = type(error)
    envelope = encode_error(error.code, str(error), error.target)
    body = encode_pretty(envelope) if kind in FROM_PROVIDER else encode_json(envelope)
    headers = {}
    if isinstance(error, MethodNotAllowedError):
        headers["Allow"] = ", ".join(error.allowed)
    if isinstance(error, tokens.AuthenticationError):
        headers["WWW-Authenticate"] = challenge(error)
    return Response(body, STATUS_OF[kind], headers, JSON)


def challenge(error: tokens.AuthenticationError) -> str:
    """Return what a client without a good token is told to do about it."""
    description = str(error).replace("\\", "").replace('"', "'")
    # A header has no room for what is not printable.
    printable = "".join(each if " " <= each <= "~" else "?" for each in description)
    # Azure says invalid_token even where there is none at all, and its clients know that form.
    return (
        f'Bearer authorization_uri="{error.authorization_uri}", error="invalid_token",'
        f' error_description="{printable}"'
    )


def unsigned() -> Response:
    """Answer that no token can be issued or read."""
    return _not_now("The key for tokens cannot be used; the server's log has the reason.")


def unavailable() -> Response:
    """Answer that the store is in trouble, which may pass."""
    return _not_now("The store cannot record anything at present; nothing was changed. Try again.")


def overloaded() -> Response:
    """Answer that too many others are being answered, which will pass."""
    return _not_now("Too many requests are being answered at present. Try again.")


def _not_now(message: str) -> Response:
    body = encode_json(encode_error("ServiceUnavailable", message))
    return Response(body, 503, RETRY_AFTER, JSON)


def unexpected() -> Response:
    """Answer for a bug of our own; the caller learns no details."""
    message = "An unexpected error occurred; the server's log has the details."
    return Response(encode_json(encode_error("InternalServerError", message)), 500, None, JSON)


async def answered(work: Awaitable[Response]) -> Response:
    """Return the answer of a handler, whatever happens in it."""
    try:
        return await work
    except DomainError as error:
        return refusal(error)
    except StoreUnavailableError:
        return unavailable()
    except SignerUnavailableError as trouble:
        logger.error("No token can be issued or read: %s", trouble, extra={"action": "unsigned"})  # noqa: TRY400
        return unsigned()
    except ClientDisconnect:
        return refusal(InvalidRequestContentError("The request was not sent whole."))
    except Exception:  # The edge: nobody may see a traceback.
        logger.exception("A request failed", extra={"action": "request_failed"})
        return unexpected()


async def _refuse(_request: Request, error: Exception) -> Response:
    assert isinstance(error, DomainError)
    return refusal(error)


async def _refuse_http(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = CODE_OF_STATUS.get(error.status_code, "BadRequest")
    body = encode_json(encode_error(code, error.detail))
    return Response(body, error.status_code, error.headers, JSON)


async def _unavailable(_request: Request, _error: Exception) -> Response:
    return unavailable()


async def _unexpected(_request: Request, _error: Exception) -> Response:
    return unexpected()  # The server logs it: Starlette raises it again.


# For routes that are Starlette's own; the table's are answered where they are called.
HANDLERS: Final[dict[type[Exception], ExceptionHandler]] = {
    DomainError: _refuse,
    HTTPException: _refuse_http,
    StoreUnavailableError: _unavailable,
    Exception: _unexpected,
}
