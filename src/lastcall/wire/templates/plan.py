"""What a deployment will do: resources in order, and the outputs."""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from lastcall.wire.templates.catalog import Catalog, Live
from lastcall.wire.templates.context import LookUp
from lastcall.wire.templates.documents import displayed, finished
from lastcall.wire.templates.faults import ExpressionError, refused
from lastcall.wire.templates.outputs import refuse_kind
from lastcall.wire.templates.parameters import Parameter
from lastcall.wire.templates.scope import Section
from lastcall.wire.templates.values import Json


class Surroundings(Struct, frozen=True):
    """What the resources and outputs of one plan are finished with."""

    catalog: Catalog
    root: str

    def live(self, look_up: LookUp) -> Live:
        """Return the runtime that answers reference()."""
        return Live(self.catalog, self.root, look_up)


class PlannedResource(Struct, frozen=True):
    """A resource that will be deployed."""

    id: str
    type: str
    name: str
    api_version: str
    location: str | None
    # The ids of those that come before it.
    depends_on: tuple[str, ...]
    surroundings: Surroundings
    evaluated: Mapping[str, Json]
    # A deployment inside the deployment: its plan, if nothing it is given is still to come.
    inner: "Plan | None" = None
    plan_inner: "Callable[[LookUp], Plan] | None" = None

    @property
    def body(self) -> dict[str, Any]:
        """What is known before deployment; expressions that have to wait stand as they were."""
        body: dict[str, Any] = displayed(self.evaluated)
        return body

    def resolve(self, look_up: LookUp) -> dict[str, Any]:
        """Return the whole body, everything that it refers to being deployed by now."""
        with refused(f"Unable to process template language expressions for resource '{self.id}'"):
            body: dict[str, Any] = finished(self.evaluated, self.surroundings.live(look_up))
            return body

    def nested(self, look_up: LookUp) -> "Plan | None":
        """Return the plan of a deployment inside the deployment, None for other resources."""
        if self.inner is not None or self.plan_inner is None:
            return self.inner
        return self.plan_inner(look_up)


class Plan(Struct, frozen=True):
    """A template evaluated as far as it can be before anything is deployed."""

    resources: tuple[PlannedResource, ...]
    # The ids that reference() asks for, of resources of the template and of others.
    referred: tuple[str, ...]
    surroundings: Surroundings
    declared: Mapping[str, Parameter]
    values: Section
    evaluated_outputs: Mapping[str, Json]

    def parameters(self) -> dict[str, Any]:
        """Return the parameters as a deployment shows them: secrets without their values."""
        return {
            parameter.name: {"type": parameter.type_name}
            | ({} if parameter.is_secure else {"value": self.values.value(parameter.name)})
            for parameter in self.declared.values()
        }

    def outputs(self, look_up: LookUp) -> dict[str, Any]:
        """Return the outputs as a deployment shows them, everything being deployed by now."""
        live = self.surroundings.live(look_up)
        result = {}
        with refused("Unable to evaluate template outputs"):
            for name, output in self.evaluated_outputs.items():
                try:
                    result[name] = _shown(finished(output, live))
                except ExpressionError as error:
                    raise error.under(f"outputs.{name}") from None
        return result


def _shown(output: dict[str, Json]) -> dict[str, Json]:
    if output["value"] is not None:
        refuse_kind(output, output["value"])
    return {"type": output["type"]} if output["type"].startswith("Secure") else output
