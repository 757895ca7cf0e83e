"""Managed identities: who a machine is to others, where its model gives it an identity."""

import uuid
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from lastcall.app import resources
from lastcall.app.tokens import Holder, Token
from lastcall.engine.errors import DomainError, InvalidParameterError, ResourceNotFoundError
from lastcall.engine.limits import TOKEN_RESOURCE_CHARACTERS_MAX
from lastcall.engine.value import Value
from lastcall.ports import Reader
from lastcall.wire.names import SET_TYPE, set_id
from lastcall.wire.paths import Path, parse_path

# A resource's identity is the same wherever and whenever it is asked for.
NAMESPACE: Final = uuid.UUID("5b0c7a3e-6f0a-4f6b-9a53-0c1d2f7f8a51")


class IdentityNotFoundError(DomainError):
    """Identity not found: the model of this machine gives it none."""

    code = "IdentityNotFound"


class WantedIdentity(Value, frozen=True, kw_only=True):
    """Which of a machine's identities is wanted; the one that goes without saying if none is."""

    client_id: str | None = None
    object_id: str | None = None
    resource_id: str | None = None

    @property
    def is_named(self) -> bool:
        """Whether one was named."""
        return (self.client_id, self.object_id, self.resource_id) != (None, None, None)

    def fits(self, holder: Holder) -> bool:
        """Whether an identity is the one that is named."""
        pairs = (
            (self.client_id, holder.app_id),
            (self.object_id, holder.object_id),
            (self.resource_id, holder.resource_id),
        )
        return all(wanted is None or wanted.lower() == own.lower() for wanted, own in pairs)


def parse_wanted(query: Callable[[str], str | None]) -> tuple[str, WantedIdentity]:
    """Return for which resource a token is wanted, and of which identity."""
    resource = query("resource")
    if not resource:
        raise InvalidParameterError("The query has no 'resource', which is needed.")
    if len(resource) > TOKEN_RESOURCE_CHARACTERS_MAX or not resource.isprintable():
        raise InvalidParameterError("That cannot be the name of a resource.")
    wanted = WantedIdentity(
        client_id=query("client_id"),
        object_id=query("object_id") or query("principal_id"),
        resource_id=query("msi_res_id") or query("mi_res_id"),
    )
    return resource, wanted


def encode_machine_token(token: Token) -> dict[str, str]:
    """Return what whoever asked for a machine's token is told: texts alone."""
    seconds = str(int(token.lifetime.total_seconds()))
    return {
        "access_token": token.text,
        "client_id": token.holder.app_id,
        "expires_in": seconds,
        "expires_on": str(int(token.expires_at.timestamp())),
        "ext_expires_in": seconds,
        "not_before": str(int(token.not_before.timestamp())),
        "resource": token.resource,
        "token_type": "Bearer",
    }


def identity_of(resource_id: str) -> Holder:
    """Return the identity that belongs to a resource: of a set, or one that a user made."""
    key = resource_id.lower()
    return Holder(
        app_id=str(uuid.uuid5(NAMESPACE, f"{key}#application")),
        object_id=str(uuid.uuid5(NAMESPACE, f"{key}#principal")),
        name=resource_id.rpartition("/")[2],
        resource_id=resource_id,
    )


def choose(model: Mapping[str, Any], resource_id: str, wanted: WantedIdentity) -> Holder:
    """Return the identity that a machine of this model speaks for, or refuse."""
    return replace(_chosen(model, resource_id, wanted), bearer=resource_id)


def is_assigned(reader: Reader, holder: Holder) -> bool:
    """Whether the resource whose machine has a token still exists and assigns it the identity."""
    path = parse_path(holder.bearer)
    model = None if path is None else _model_at(reader, path)
    if model is None:
        return False
    assigned = (*_system_assigned(model, holder.bearer), *_user_assigned(model))
    return any(each.app_id == holder.app_id for each in assigned)


class _Identified(Struct):
    """The one member of a set's model that is looked at: the rest is not even decoded."""

    identity: Any = None


def _model_at(reader: Reader, path: Path) -> Mapping[str, Any] | None:
    if path.kind != SET_TYPE.lower():
        found = resources.find(reader, path)
        return None if found is None else found.content
    try:
        scale_set = reader.scale_set(set_id(path.subscription, path.group, path.name))
    except ResourceNotFoundError:
        return None
    document = reader.document(scale_set.id, scale_set.number)
    return {"identity": msgspec.json.decode(document, type=_Identified).identity}


def _chosen(model: Mapping[str, Any], resource_id: str, wanted: WantedIdentity) -> Holder:
    system, assigned = _system_assigned(model, resource_id), tuple(_user_assigned(model))
    if wanted.is_named:
        found = [each for each in (*system, *assigned) if wanted.fits(each)]
        if not found:
            raise IdentityNotFoundError("Identity not found: the model assigns no such identity.")
        return found[0]
    if system:
        return system[0]
    if len(assigned) > 1:
        raise IdentityNotFoundError(
            "Multiple user assigned identities exist; name one by client_id, object_id or"
            " msi_res_id."
        )
    if not assigned:
        raise IdentityNotFoundError
    return assigned[0]


def _system_assigned(model: Mapping[str, Any], resource_id: str) -> tuple[Holder, ...]:
    kinds = str(_identity(model).get("type", "")).replace(" ", "").lower().split(",")
    return (identity_of(resource_id),) if "systemassigned" in kinds else ()


def _user_assigned(model: Mapping[str, Any]) -> Iterator[Holder]:
    assigned = _identity(model).get("userAssignedIdentities")
    for resource_id in assigned if isinstance(assigned, dict) else ():
        yield identity_of(resource_id)


def _identity(model: Mapping[str, Any]) -> Mapping[str, Any]:
    found = model.get("identity")
    return found if isinstance(found, dict) else {}
