"""Models of machines that no set owns: whatever is accepted can be shown."""

import json
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lastcall.engine.model import Action, EventType, Machine, MachineId, Provisioning
from lastcall.engine.resources import Resource, ResourceId
from lastcall.metadata.instance import encode_instance, residence
from lastcall.wire import virtual_machines
from lastcall.wire.availability_sets import encode_set, merge_set, parse_set
from lastcall.wire.cloud_services import (
    SERVICE_TYPE,
    encode_role,
    encode_role_instance,
    encode_service,
    merge_service,
    number_of,
    parse_roles,
    role_of,
)
from lastcall.wire.spelling import NAMES as SPELLED
from lastcall.wire.virtual_machines import (
    MEMBERS,
    VM_TYPE,
    encode_machine,
    encode_machine_view,
    merge_machine,
    parse_machine,
)

from .builders import JSON, NOW, refusal_of

GROUP = "/subscriptions/s/resourceGroups/g/providers/"
VM = {"location": "West US", "properties": {"hardwareProfile": {"vmSize": "Standard_D2s_v5"}}}
ROLE = {"name": "FrontEnd", "sku": {"name": "Standard_D1_v2", "capacity": "2"}}
SERVICE = {"location": "westus", "properties": {"roleProfile": {"roles": [ROLE]}}}
NAMES = st.sampled_from(
    [
        "hardwareProfile",
        "storageProfile",
        "osProfile",
        "osDisk",
        "imageReference",
        "availabilitySet",
        "linuxConfiguration",
        "priority",
        "evictionPolicy",
        "scheduledEventsProfile",
        "zones",
        "tags",
        "platformFaultDomainCount",
        "sku",
        "name",
        "roleProfile",
        "roles",
        "location",
        "plan",
        "id",
    ]
)
CHANGES = st.dictionaries(NAMES, st.dictionaries(NAMES, JSON, max_size=2) | JSON, max_size=3)


def a_resource(kind, content, number=1):
    path = f"{GROUP}{kind}/db"
    return Resource(
        id=ResourceId(path.lower()),
        path=path,
        kind=kind.lower(),
        group="g",
        content=content,
        created_at=NOW,
        number=number,
    )


def a_machine(name="db", **changes):
    return Machine(
        id=MachineId("1"),
        name=name,
        ordinal=1,
        created_at=NOW,
        computer_name="db-host",
        path=f"{GROUP}{VM_TYPE}/{name}",
        provisioning=Provisioning.SUCCEEDED,
        **changes,
    )


def changed(model, changes, properties):
    return model | changes | {"properties": model.get("properties", {}) | properties}


@given(CHANGES, CHANGES)
def test_a_machine_that_is_accepted_can_be_shown_and_read_about(changes, properties):
    def work():
        content = merge_machine(None, changed(VM, changes, properties))
        parse_machine(content, "db")
        vm, machine = a_resource(VM_TYPE, content), a_machine()
        json.dumps(encode_machine(vm, machine, "2024-07-01"))
        json.dumps(encode_machine_view(vm, machine, NOW))
        json.dumps(encode_instance(machine, "scope", residence(machine, vm), "2023-07-01"))
        again = encode_machine(vm, machine, "9999-12-31")
        assert merge_machine(content, json.loads(json.dumps(again))) is not None

    refusal = refusal_of(work)
    assert refusal is None or str(refusal)


@given(CHANGES, CHANGES)
def test_an_availability_set_that_is_accepted_can_be_shown(changes, properties):
    def work():
        content = merge_set(None, changed({"location": "westus"}, changes, properties))
        parse_set(content)
        json.dumps(encode_set(a_resource("x/y", content), [a_machine()]))

    refusal = refusal_of(work)
    assert refusal is None or str(refusal)


@given(CHANGES, CHANGES)
def test_a_service_that_is_accepted_can_be_shown(changes, properties):
    def work():
        content = merge_service(None, changed(SERVICE, changes, properties))
        roles = parse_roles(content)
        service = a_resource(SERVICE_TYPE, content)
        machines = [a_machine(f"{role.name}_IN_0") for role in roles]
        json.dumps(encode_service(service, machines, Provisioning.SUCCEEDED))
        for machine, role in zip(machines, roles, strict=True):
            json.dumps(encode_role(service, role, 1))
            json.dumps(encode_role_instance(service, machine, role))
            encode_instance(machine, "scope", residence(machine, service), "2023-07-01")

    refusal = refusal_of(work)
    assert refusal is None or str(refusal)


def test_what_matters_of_a_machine():
    terminate = {"enable": "true", "notBeforeTimeout": "PT7M"}
    model = changed(
        VM,
        {},
        {
            "scheduledEventsProfile": {"terminateNotificationProfile": terminate},
            "scheduledEventsPolicy": {"userInitiatedRedeploy": {"automaticallyApprove": True}},
            "availabilitySet": {"id": "/somewhere"},
        },
    )
    known = parse_machine(merge_machine(None, model), "db")

    assert known.computer_name == "db"
    assert known.location == "westus"
    assert known.availability_set == "/somewhere"
    assert known.notice == timedelta(minutes=7)
    assert known.auto_approve == (EventType.REDEPLOY,)
    assert known.model(3).version == 3


def test_a_spot_machine_is_deallocated_unless_told_otherwise():
    spot = changed(VM, {}, {"priority": "spot"})
    gone = changed(VM, {}, {"priority": "Low", "evictionPolicy": "delete"})

    assert parse_machine(merge_machine(None, spot), "db").eviction is Action.DEALLOCATE
    assert parse_machine(merge_machine(None, gone), "db").eviction is Action.DELETE
    assert parse_machine(merge_machine(None, VM), "db").eviction is None


def test_what_only_the_service_writes_is_dropped():
    given = changed(VM, {"resources": [], "id": "x"}, {"vmId": "x", "instanceView": {}})

    assert merge_machine(None, given) == merge_machine(None, VM)
    assert merge_set({}, {"properties": {"virtualMachines": [1]}}) == {"properties": {}}


@pytest.mark.parametrize(
    ("properties", "system"),
    [
        ({"osProfile": {"windowsConfiguration": {}}}, "Windows"),
        ({"osProfile": {"linuxConfiguration": {}}}, "Linux"),
        ({}, "Linux"),
    ],
)
def test_the_system_is_told_from_the_model(properties, system):
    storage = {"osDisk": {"createOption": "FromImage"}}
    content = merge_machine(None, changed(VM, {}, {"storageProfile": storage, **properties}))
    shown = encode_machine(a_resource(VM_TYPE, content), a_machine(), "2024-07-01")

    assert shown["properties"]["storageProfile"]["osDisk"]["osType"] == system


def test_an_image_of_windows_is_known_by_its_publisher():
    image = {"imageReference": {"publisher": "MicrosoftWindowsServer"}, "osDisk": {}}
    content = merge_machine(None, changed(VM, {}, {"storageProfile": image}))
    shown = encode_machine(a_resource(VM_TYPE, content), a_machine(), "2024-07-01")

    assert shown["properties"]["storageProfile"]["osDisk"]["osType"] == "Windows"


def test_role_instances_are_named_after_their_role():
    (role,) = parse_roles(SERVICE)
    machine = a_machine("Front_End_IN_12")

    assert (role.name, role.capacity, role.tier) == ("FrontEnd", 2, "Standard")
    assert (role_of(machine), number_of(machine)) == ("Front_End", 12)


def test_every_name_that_we_look_for_is_known():
    paths = [value for value in vars(virtual_machines).values() if isinstance(value, str)]
    looked_for = {
        name
        for path in [member.path for member in MEMBERS] + list(virtual_machines.OBJECTS) + paths
        if path.startswith("properties")
        for name in path.split(".")
    }
    looked_for |= set(virtual_machines.READ_ONLY) | {"roleProfile", "roles", "virtualMachines"}

    assert looked_for - SPELLED == set()
