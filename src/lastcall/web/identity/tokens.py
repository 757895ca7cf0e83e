"""The token endpoint: a client's id and secret in, a token out; refusals as OAuth 2 has them."""

import base64
import binascii
from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qsl, unquote_plus

from starlette.responses import Response

from lastcall.app.authority import Authority, InvalidClientError
from lastcall.app.tokens import Token
from lastcall.engine.limits import (
    TOKEN_FORM_BYTES_MAX,
    TOKEN_FORM_FIELDS_MAX,
    TOKEN_RESOURCE_CHARACTERS_MAX,
)
from lastcall.web.errors import JSON
from lastcall.web.routing import Call
from lastcall.wire.bodies import encode_json
from lastcall.wire.quoting import shown

DEFAULT_SCOPE: Final = "/.default"
# Nobody on the way may keep a token.
UNCACHED: Final = {"Cache-Control": "no-store", "Pragma": "no-cache"}


class OAuthError(Exception):
    """A refusal as token endpoints word it; `number` is the one that Azure gives it."""

    def __init__(self, error: str, number: int, sentence: str, status: int = 400) -> None:
        super().__init__(sentence)
        self.error = error
        self.number = number
        self.status = status

    def answer(self) -> Response:
        """Return the refusal as an answer."""
        body = {
            "error": self.error,
            "error_description": f"AADSTS{self.number}: {self}",
            "error_codes": [self.number],
        }
        challenge = {"WWW-Authenticate": "Basic"} if self.status == 401 else {}
        return Response(encode_json(body), self.status, UNCACHED | challenge, JSON)


class TokenEndpoint:
    """The handler of every path that ends in /token."""

    def __init__(self, authority: Authority) -> None:
        self._authority = authority

    async def issue(self, call: Call) -> Response:
        """Give a token to a client that knows its secret."""
        try:
            form = await _form(call)
            resource = _resource(form)
            client_id, secret = _client(call, form)
            token = await self._authority.sign_in(client_id, secret, resource)
        except OAuthError as refused:
            return refused.answer()
        except InvalidClientError:
            return OAuthError(
                "invalid_client",
                7000215,
                f"There is no client '{shown(client_id)}', or its secret is another one.",
                401,
            ).answer()
        shape = _first_version if "resource" in form else _second_version
        return Response(encode_json(shape(token)), 200, UNCACHED, JSON)


async def _form(call: Call) -> Mapping[str, str]:
    body = await call.body()
    if len(body) > TOKEN_FORM_BYTES_MAX:
        raise _invalid(9002313, f"The form is larger than {TOKEN_FORM_BYTES_MAX} bytes.")
    try:
        pairs = parse_qsl(
            body.decode("ascii"), keep_blank_values=True, max_num_fields=TOKEN_FORM_FIELDS_MAX
        )
    except ValueError as wrong:
        raise _invalid(9002313, "The body is not a form (x-www-form-urlencoded).") from wrong
    form = dict(pairs)
    if len(form) < len(pairs):
        raise _invalid(9002313, "The form has a field twice.")
    grant = form.get("grant_type", "")
    if not grant:
        raise _missing("grant_type")
    if grant != "client_credentials":
        raise OAuthError(
            "unsupported_grant_type",
            70003,
            f"The grant type '{shown(grant)}' is not supported; client_credentials is.",
        )
    return form


def _resource(form: Mapping[str, str]) -> str:
    """Return what a token is wanted for: the first version's resource, the second's scope."""
    if "resource" in form:
        resource = form["resource"]
    else:
        scopes = form.get("scope", "").split()
        wanted = [each for each in scopes if each.endswith(DEFAULT_SCOPE)]
        if not scopes:
            raise _missing("scope")
        if len(wanted) != 1:
            raise OAuthError(
                "invalid_scope",
                1002012,
                f"The scope '{shown(form['scope'])}' is not one resource followed by"
                f" {DEFAULT_SCOPE}, which this grant wants.",
            )
        resource = wanted[0].removesuffix(DEFAULT_SCOPE)
    if not resource:
        raise _missing("resource")
    if len(resource) > TOKEN_RESOURCE_CHARACTERS_MAX or not resource.isprintable():
        raise OAuthError("invalid_resource", 500011, "That cannot be the name of a resource.")
    return resource


def _client(call: Call, form: Mapping[str, str]) -> tuple[str, str]:
    basic = call.header("authorization") or ""
    if basic.lower().startswith("basic "):
        return _basic(basic[len("basic ") :])
    for name in ("client_id", "client_secret"):
        if not form.get(name):
            raise _missing(name)
    return form["client_id"], form["client_secret"]


def _basic(encoded: str) -> tuple[str, str]:
    try:
        text = base64.b64decode(encoded, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError) as wrong:
        raise _invalid(900144, "The Authorization header cannot be read.") from wrong
    client_id, _, secret = text.partition(":")
    return unquote_plus(client_id), unquote_plus(secret)


def _first_version(token: Token) -> dict[str, object]:
    """Return the answer to those who named a resource: every value is a text."""
    seconds = str(int(token.lifetime.total_seconds()))
    return {
        "token_type": "Bearer",
        "expires_in": seconds,
        "ext_expires_in": seconds,
        "expires_on": str(int(token.expires_at.timestamp())),
        "not_before": str(int(token.not_before.timestamp())),
        "resource": token.resource,
        "access_token": token.text,
    }


def _second_version(token: Token) -> dict[str, object]:
    seconds = int(token.lifetime.total_seconds())
    return {
        "token_type": "Bearer",
        "expires_in": seconds,
        "ext_expires_in": seconds,
        "access_token": token.text,
    }


def _missing(name: str) -> OAuthError:
    return _invalid(900144, f"The form has no '{name}', which is needed.")


def _invalid(number: int, sentence: str) -> OAuthError:
    return OAuthError("invalid_request", number, sentence)
