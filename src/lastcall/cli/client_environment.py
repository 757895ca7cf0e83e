"""The environment in which az, the SDKs, Ansible and Terraform use a server of ours.

What it replaces is remembered in a variable of its own, so that it can be put back, and so that
doing it twice is the same as doing it once.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from lastcall.cli.azure_folder import NODE_VARIABLE, Client, prepare, write_bundle
from lastcall.cli.failures import CommandError
from lastcall.cli.places import Place

BEFORE: Final = "LASTCALL_ENV_BEFORE"
DIRECT: Final = ("127.0.0.1", "localhost")
NO_PROXY: Final = ("NO_PROXY", "no_proxy")


def client_environment(place: Place) -> dict[str, str]:
    """Return the variables to set for the server of a folder, and write what they lead to."""
    from lastcall.statefolder import read_endpoints  # noqa: PLC0415
    from lastcall.trust.credentials import read_credentials  # noqa: PLC0415
    from lastcall.trust.files import TrustError  # noqa: PLC0415

    folder = place.folder.absolute()
    try:
        endpoints, own = read_endpoints(folder), read_credentials(folder)
    except (OSError, TrustError) as trouble:
        raise CommandError(f"error: {trouble}") from trouble
    if endpoints is None or own is None or not _is_running(endpoints.pid):
        raise place.nobody()
    assert endpoints.control is not None
    assert endpoints.ca is not None
    client = Client(
        endpoints.control, endpoints.tenant, endpoints.subscription, own.app_id, own.secret
    )
    azure = prepare(folder, client)
    original = original_environment(os.environ)
    variables = {
        "AZURE_CONFIG_DIR": str(azure),
        **_for_sdks(client),
        **_for_terraform(client),
        **_for_trust(write_bundle(azure, Path(endpoints.ca), original)),
        **_for_proxies(client, original),
    }
    before = {name: original[name] for name in variables if name in original}
    return {**variables, BEFORE: json.dumps(before)}


def _is_running(pid: int) -> bool:
    """Whether there is a process; a server that was killed leaves its endpoints behind."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass  # It is somebody else's.
    return True


def original_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment as it was before ours was put into it."""
    restored = dict(environment)
    for name, value in undoing(environment).items():
        if value is None:
            restored.pop(name, None)
        else:
            restored[name] = value
    return restored


def undoing(environment: Mapping[str, str]) -> dict[str, str | None]:
    """Return what to change to have the environment as it was; None forgets a variable."""
    try:
        before = json.loads(environment[BEFORE])
    except (KeyError, ValueError):
        return {}
    if not isinstance(before, dict):
        return {}
    ours = {name: before.get(name) for name in NAMES}
    kept = {name: value if isinstance(value, str) else None for name, value in ours.items()}
    return {**kept, BEFORE: None}


def _for_sdks(client: Client) -> dict[str, str]:
    return {
        "AZURE_AUTHORITY_HOST": client.control,
        # The one tenant whose authority is believed without asking Microsoft about it.
        "AZURE_TENANT_ID": "adfs",
        "AZURE_CLIENT_ID": client.app_id,
        "AZURE_CLIENT_SECRET": client.secret,
        "AZURE_SUBSCRIPTION_ID": client.subscription,
    }


def _for_terraform(client: Client) -> dict[str, str]:
    host = urlsplit(client.control).netloc
    return {
        "ARM_METADATA_HOSTNAME": host,
        "ARM_METADATA_HOST": host,
        "ARM_TENANT_ID": client.tenant,
        "ARM_CLIENT_ID": client.app_id,
        "ARM_CLIENT_SECRET": client.secret,
        "ARM_SUBSCRIPTION_ID": client.subscription,
        "ARM_RESOURCE_PROVIDER_REGISTRATIONS": "none",
    }


def _for_trust(bundle: Path) -> dict[str, str]:
    """Return where clients find whom to trust: requests, OpenSSL and Go, Node."""
    return dict.fromkeys(("REQUESTS_CA_BUNDLE", "SSL_CERT_FILE", NODE_VARIABLE), str(bundle))


def _for_proxies(client: Client, original: Mapping[str, str]) -> dict[str, str]:
    own = (*DIRECT, urlsplit(client.control).hostname or DIRECT[0])
    said = [original[name] for name in NO_PROXY if original.get(name)][:1]
    hosts = [host for text in (*own, *said) for host in text.split(",") if host]
    return dict.fromkeys(NO_PROXY, ",".join(dict.fromkeys(hosts)))


NAMES: Final = (
    "AZURE_CONFIG_DIR",
    *_for_sdks(Client("", "", "", "", "")),
    *_for_terraform(Client("", "", "", "", "")),
    *_for_trust(Path()),
    *NO_PROXY,
)
