"""The HTTP side of a command: one server, asked in its own words, its refusals passed on."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from lastcall.cli.failures import (
    FAILED,
    NOT_FOUND,
    CommandError,
    NoServerError,
    RefusedError,
)
from lastcall.cli.places import Place, state_flag

if TYPE_CHECKING:
    import httpx2

API_VERSION: Final = "2024-11-01"
OWN_API: Final = "/lastcall/v1"
SETS: Final = "providers/Microsoft.Compute/virtualMachineScaleSets"
GROUP: Final = "lastcall"
PAGE: Final = "1000"
# Advancing a clock does everything that becomes due before it answers.
ANSWER_TIMEOUT_S: Final = 600.0
CONNECT_TIMEOUT_S: Final = 10.0

Json = dict[str, Any]
Params = dict[str, str]


class Connection:
    """Asks one server; every refusal is a `CommandError`."""

    def __init__(self, place: Place) -> None:
        import httpx2  # noqa: PLC0415  # `up` must start without it

        self._place = place
        self.server = place.server()
        # A proxy of the environment would take 127.0.0.1 for itself.
        self._client = httpx2.Client(
            base_url=self.server.url,
            trust_env=False,
            timeout=httpx2.Timeout(ANSWER_TIMEOUT_S, connect=CONNECT_TIMEOUT_S),
        )

    def close(self) -> None:
        """Let the server go."""
        self._client.close()

    def own(
        self, method: str, path: str, body: Json | None = None, params: Params | None = None
    ) -> Any:
        """Ask lastcall's own API; return the answer's JSON, None where it is empty."""
        answer = self.ask(method, f"{OWN_API}/{path}", body, params)
        return answer.json() if answer.content else None

    def everything(self, path: str, params: Params | None = None) -> list[Json]:
        """Return all of a list of lastcall's own API, page after page."""
        found: list[Json] = []
        following: int | None = 0
        while following is not None:
            page = self.own(
                "GET", path, None, {**(params or {}), "limit": PAGE, "skip": str(following)}
            )
            found += page["value"]
            following = page["next"]
        return found

    def stream(self, path: str, after: int) -> Iterator[str]:
        """Yield the lines of a stream of lastcall's own API, after a known one, until it breaks."""
        import httpx2  # noqa: PLC0415

        # Between two changes any time may pass.
        endless = httpx2.Timeout(None, connect=CONNECT_TIMEOUT_S)
        with (
            self._translated(),
            self._client.stream(
                "GET", f"{OWN_API}/{path}", params={"after": str(after)}, timeout=endless
            ) as answer,
        ):
            if answer.is_error:
                answer.read()
                raise refusal(answer)
            yield from answer.iter_lines()

    def arm(
        self, method: str, path: str, body: Json | None = None, params: Params | None = None
    ) -> "httpx2.Response":
        """Ask the control plane about something under the subscription."""
        full = f"/subscriptions/{self.server.subscription}/{path}"
        return self.ask(method, full, body, {"api-version": API_VERSION, **(params or {})})

    def listed(self, first: "httpx2.Response") -> list[Json]:
        """Return all of a list of the control plane, of which the first page was answered."""
        page = first.json()
        found: list[Json] = page["value"]
        while "nextLink" in page:
            page = self.ask("GET", page["nextLink"]).json()
            found += page["value"]
        return found

    def about(
        self,
        target: "Target",
        method: str,
        *more: str,
        body: Json | None = None,
        params: Params | None = None,
    ) -> "httpx2.Response":
        """Ask about a scale set or something of it; what is not there comes with a hint."""
        try:
            return self.arm(method, target.path(*more), body, params)
        except CommandError as failure:
            failure.hint = self._hint(failure, target)
            raise

    def _hint(self, failure: CommandError, target: "Target") -> str:
        if failure.exit_code != NOT_FOUND:
            return ""
        if failure.code in ("ResourceNotFound", "ResourceGroupNotFound"):
            return self.hint("vmss list")
        return self.hint(f"vmss list-instances {target.flags}")

    def hint(self, command: str) -> str:
        """Return the advice to look somewhere else on the same server."""
        return f"see: lastcall {command}{state_flag(self._place.state)}"

    def ask(
        self, method: str, url: str, body: Json | None = None, params: Params | None = None
    ) -> "httpx2.Response":
        """Return the answer to a request, or raise what the server says against it."""
        with self._translated():
            answer = self._client.request(method, url, json=body, params=params)
        if answer.is_error:
            raise refusal(answer)
        return answer

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Turn what can happen to a connection into a `CommandError`."""
        import httpx2  # noqa: PLC0415

        try:
            yield
        except httpx2.ConnectError as nobody:
            raise self._place.nobody() from nobody
        except httpx2.TimeoutException as slow:
            raise NoServerError(f"error: {self.server.url} does not answer.") from slow
        except (httpx2.TransportError, httpx2.InvalidURL) as trouble:
            raise NoServerError(f"error: the connection broke: {trouble}") from trouble


def refusal(answer: "httpx2.Response") -> CommandError:
    """Return a server's refusal in the server's own words."""
    exit_code = NOT_FOUND if answer.status_code == 404 else FAILED
    try:
        error = answer.json()["error"]
        if isinstance(error, str) and "metadata header" in error:
            return CommandError(
                "error: that is the metadata address; the API is elsewhere (see endpoints.json)."
            )
        # An action on instances that are not there is a 400 on Azure.
        if (error["code"], error.get("target")) == ("InvalidParameter", "instanceIds"):
            exit_code = NOT_FOUND
        return RefusedError(error["message"], exit_code, code=error["code"])
    except (ValueError, KeyError, TypeError, AttributeError):
        return CommandError(
            f"error: the server answered {answer.status_code} {answer.reason_phrase}.", exit_code
        )


@dataclass(frozen=True, slots=True)
class Target:
    """The scale set that a command is about."""

    group: str
    name: str

    @property
    def flags(self) -> str:
        """What a command needs to mean this set."""
        return f"-n {self.name}" + ("" if self.group == GROUP else f" -g {self.group}")

    def path(self, *more: str) -> str:
        """Return the path of the set, or of something of it, under the subscription."""
        end = "/".join(quote(word, safe="") for word in (self.name, *more))
        return f"{sets_path(self.group)}/{end}"


def group_path(group: str) -> str:
    """Return the path of a resource group under the subscription."""
    return f"resourceGroups/{quote(group, safe='')}"


def sets_path(group: str | None) -> str:
    """Return the path of the sets of a group, or of all, under the subscription."""
    return SETS if group is None else f"{group_path(group)}/{SETS}"
