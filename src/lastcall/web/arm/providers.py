"""Resource providers and features: listed, shown, registered, unregistered."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

from starlette.responses import Response

from lastcall.app.platform import Platform
from lastcall.app.registrations import FEATURES, PROVIDERS, say, states
from lastcall.engine.errors import InvalidResourceNamespaceError
from lastcall.ports import Transaction
from lastcall.web.account import Account
from lastcall.web.arm.front_door import SUBSCRIPTION, arm_route
from lastcall.web.routing import Call, Route, json
from lastcall.wire.arm import encode_list
from lastcall.wire.catalogue import Provider, catalogue, provider
from lastcall.wire.quoting import shown
from lastcall.wire.versions import RESOURCES

Json = dict[str, Any]
REGISTERED: Final = "Registered"
# Microsoft.Features is a provider like any other, and lists those of others below its own.
ALL_FEATURES: Final = f"{SUBSCRIPTION}/providers/Microsoft.Features"


class Providers:
    """Handlers for `providers` and `Microsoft.Features`."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform

    async def list_all(self, call: Call) -> Response:
        """List the providers."""
        said = await self._platform.read(lambda r: states(r, PROVIDERS))
        listed = (_provider(call, each, said) for each in catalogue().providers)
        return json(encode_list(listed))

    async def show(self, call: Call) -> Response:
        """Show one provider."""
        found = _known(call.names["namespace"])
        said = await self._platform.read(lambda r: states(r, PROVIDERS))
        return json(_provider(call, found, said))

    async def register(self, call: Call, *, state: str) -> Response:
        """Register a provider, or the opposite; it is only remembered."""
        found = _known(call.names["namespace"])

        def work(tx: Transaction) -> Mapping[str, str]:
            say(tx, PROVIDERS, found.namespace, state)
            return states(tx, PROVIDERS)

        said = await self._platform.transact(lambda tx, _moment: work(tx))
        return json(_provider(call, found, said))

    async def list_features(self, call: Call) -> Response:
        """List the features that somebody has asked for, of one provider or of all."""
        namespace = call.names.get("namespace")
        prefix = "" if namespace is None else f"{_known(namespace).namespace.lower()}/"
        said = await self._platform.read(lambda r: states(r, FEATURES))
        named = sorted(name for name in said if name.startswith(prefix))
        return json(encode_list(_feature(call, name, said) for name in named))

    async def show_feature(self, call: Call) -> Response:
        """Show one feature: any exists, registered or not."""
        name = _feature_name(call)
        said = await self._platform.read(lambda r: states(r, FEATURES))
        return json(_feature(call, name, said))

    async def register_feature(self, call: Call, *, state: str) -> Response:
        """Register a feature, or the opposite; it is only remembered."""
        name = _feature_name(call)
        await self._platform.transact(lambda tx, _moment: say(tx, FEATURES, name, state))
        return json(_feature(call, name, {name.lower(): state}))


def _known(namespace: str) -> Provider:
    found = provider(namespace)
    if found is None:
        raise InvalidResourceNamespaceError(
            f"The resource namespace '{shown(namespace)}' is invalid."
        )
    return found


def _provider(call: Call, found: Provider, said: Mapping[str, str]) -> Json:
    places = [region.display for region in catalogue().regions]
    return {
        "id": f"/subscriptions/{call.names['subscription']}/providers/{found.namespace}",
        "namespace": found.namespace,
        "registrationPolicy": "RegistrationRequired",
        "registrationState": said.get(found.namespace.lower(), REGISTERED),
        "resourceTypes": [
            {
                "resourceType": kind,
                "locations": places,
                "apiVersions": found.versions,
                "capabilities": "None",
            }
            for kind in found.types
        ],
    }


def _feature_name(call: Call) -> str:
    return f"{_known(call.names['namespace']).namespace}/{shown(call.names['feature'])}"


def _feature(call: Call, name: str, said: Mapping[str, str]) -> Json:
    namespace, _, feature = name.partition("/")
    root = f"/subscriptions/{call.names['subscription']}/providers/Microsoft.Features"
    return {
        "id": f"{root}/providers/{namespace}/features/{feature}",
        "name": name,
        "type": "Microsoft.Features/providers/features",
        "properties": {"state": said.get(name.lower(), "NotRegistered")},
    }


def routes(platform: Platform, account: Account) -> Iterator[Route]:
    """Yield every operation on providers and features."""
    handlers = Providers(platform)
    route = partial(arm_route, account, versions=RESOURCES)
    everywhere = f"{SUBSCRIPTION}/providers"
    one = f"{everywhere}/{{namespace}}"
    features = f"{ALL_FEATURES}/providers/{{namespace}}/features"
    yield route("GET", everywhere, handlers.list_all, "List the resource providers")
    yield route("GET", one, handlers.show, "Show a resource provider")
    yield route("GET", f"{ALL_FEATURES}/features", handlers.list_features, "List the features")
    yield route("GET", features, handlers.list_features, "List the features of a provider")
    yield route("GET", f"{features}/{{feature}}", handlers.show_feature, "Show a feature")
    for word, state in (("register", REGISTERED), ("unregister", "Unregistered")):
        provide = partial(handlers.register, state=state)
        yield route("POST", f"{one}/{word}", provide, f"{word} a resource provider")
        enable = partial(handlers.register_feature, state=state)
        yield route("POST", f"{features}/{{feature}}/{word}", enable, f"{word} a feature")
