"""The folder that az takes for its own: signed in to our cloud, and nowhere else.

az's own ~/.azure is not touched. The files are written again only when what they are about has
changed, so that what a user does with az in the meantime stays.
"""

import configparser
import hashlib
import io
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from lastcall.cli.failures import CommandError
from lastcall.trust.files import TrustError, write_whole

FOLDER: Final = "azure"
CLOUD: Final = "lastcall"
STAMP: Final = "lastcall.json"
PROFILE: Final = "azureProfile.json"
BUNDLE: Final = "bundle.pem"
# Where systems keep the roots that they trust, each in one file.
SYSTEM_ROOTS: Final = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)
NODE_VARIABLE: Final = "NODE_EXTRA_CA_CERTS"
TRUST_VARIABLES: Final = ("REQUESTS_CA_BUNDLE", "SSL_CERT_FILE", "CURL_CA_BUNDLE")

Ini = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Client:
    """What a client needs to know of a server to use it."""

    control: str
    tenant: str
    subscription: str
    app_id: str
    secret: str


def prepare(state: Path, client: Client) -> Path:
    """Return the folder, written if it is not for this client yet."""
    folder = state / FOLDER
    stamp = hashlib.sha256(json.dumps(asdict(client)).encode()).hexdigest()
    try:
        if _is_stamped(folder, stamp):
            return folder
        folder.mkdir(mode=0o700, exist_ok=True)
        for name, content in _files(client).items():
            write_whole(folder / name, content)
        write_whole(folder / STAMP, json.dumps({"of": stamp}).encode())
    except (OSError, TrustError) as trouble:
        raise CommandError(f"error: {folder} cannot be written: {trouble}") from trouble
    return folder


def write_bundle(folder: Path, authority: Path, environment: Mapping[str, str]) -> Path:
    """Write the roots that a user trusts already and our own into one file; return where."""
    bundle = folder / BUNDLE
    try:
        write_whole(bundle, _roots(environment) + b"\n" + authority.read_bytes())
    except (OSError, TrustError) as trouble:
        raise CommandError(f"error: {bundle} cannot be written: {trouble}") from trouble
    return bundle


def _roots(environment: Mapping[str, str]) -> bytes:
    """Return the roots that Python's clients trust, and what Node's trust besides."""
    named = [environment[name] for name in TRUST_VARIABLES if environment.get(name)]
    places = [place for place in (*named, *SYSTEM_ROOTS, *_certifi()) if _is_file(place)][:1]
    beside = environment.get(NODE_VARIABLE, "")
    if beside not in places and _is_file(beside):
        places.append(beside)
    return b"\n".join(Path(place).read_bytes().rstrip() for place in places)


def _is_file(place: str) -> bool:
    return bool(place) and Path(place).is_file()


def _certifi() -> tuple[str, ...]:
    try:
        import certifi  # type: ignore[import-not-found, unused-ignore]  # noqa: PLC0415
    except ImportError:
        return ()
    return (certifi.where(),)


def _is_stamped(folder: Path, stamp: str) -> bool:
    """Whether the files are for this client, and somebody is still signed in there."""
    try:
        found = json.loads((folder / STAMP).read_bytes())
        profile = json.loads((folder / PROFILE).read_text("utf-8-sig"))
    except (FileNotFoundError, ValueError):
        return False
    return bool(found == {"of": stamp} and profile.get("subscriptions"))


def _files(client: Client) -> dict[str, bytes]:
    entry = {
        "client_id": client.app_id,
        "tenant": client.tenant,
        "client_secret": client.secret,
    }
    return {
        "config": _ini(_config()),
        "clouds.config": _ini({CLOUD: _cloud(client)}),
        # az reads this one with a byte order mark.
        PROFILE: json.dumps(_profile(client)).encode("utf-8-sig"),
        "service_principal_entries.json": json.dumps([entry]).encode(),
    }


def _config() -> Ini:
    return {
        "cloud": {"name": CLOUD},
        "core": {
            "collect_telemetry": "no",
            "survey_message": "no",
            # What would keep it secret is not there on every machine; the folder is the owner's.
            "encrypt_token_cache": "false",
        },
        "extension": {"use_dynamic_install": "no"},
        "auto-upgrade": {"enable": "no"},
    }


def _cloud(client: Client) -> Mapping[str, str]:
    base = client.control
    return {
        "endpoint_resource_manager": base,
        "endpoint_management": f"{base}/",
        "endpoint_active_directory": f"{base}/adfs",
        "endpoint_active_directory_resource_id": f"{base}/",
        "endpoint_active_directory_graph_resource_id": f"{base}/graph/",
        "endpoint_microsoft_graph_resource_id": f"{base}/graph/",
        "endpoint_gallery": f"{base}/gallery",
        "endpoint_vm_image_alias_doc": f"{base}/aliases.json",
        "suffix_storage_endpoint": "storage.lastcall.invalid",
        "suffix_keyvault_dns": ".vault.lastcall.invalid",
        "subscription": client.subscription,
    }


def _profile(client: Client) -> Mapping[str, object]:
    return {
        "subscriptions": [
            {
                "id": client.subscription,
                "name": CLOUD,
                "state": "Enabled",
                "user": {"name": client.app_id, "type": "servicePrincipal"},
                "isDefault": True,
                "tenantId": client.tenant,
                "homeTenantId": client.tenant,
                "environmentName": CLOUD,
                "managedByTenants": [],
            }
        ]
    }


def _ini(sections: Ini) -> bytes:
    parser = configparser.RawConfigParser()
    parser.read_dict(sections)
    text = io.StringIO()
    parser.write(text)
    return text.getvalue().encode()
