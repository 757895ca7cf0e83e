"""Run by the Python that has the Azure SDK: the same flow with azure-mgmt-compute."""

import os
import sys

from azure.core.exceptions import HttpResponseError
from azure.identity import ClientSecretCredential
from azure.mgmt.compute import ComputeManagementClient
from azure.mgmt.resource.resources import ResourceManagementClient


def refused(call):
    try:
        call()
    except HttpResponseError as error:
        return error
    raise SystemExit("it was not refused")


base, subscription = sys.argv[1:3]
credential = ClientSecretCredential(
    tenant_id=os.environ["AZURE_TENANT_ID"],
    client_id=os.environ["AZURE_CLIENT_ID"],
    client_secret=os.environ["AZURE_CLIENT_SECRET"],
    authority=os.environ["AZURE_AUTHORITY_HOST"],
    disable_instance_discovery=True,
)
there = {"base_url": base, "credential_scopes": [f"{base}/.default"]}
groups = ResourceManagementClient(credential, subscription, **there).resource_groups
compute = ComputeManagementClient(credential, subscription, **there)
sets, machines = compute.virtual_machine_scale_sets, compute.virtual_machine_scale_set_vms

groups.create_or_update("sdkrg", {"location": "westus"})
profile = {"terminateNotificationProfile": {"enable": True, "notBeforeTimeout": "PT7M"}}
model = {
    "location": "westus",
    "sku": {"name": "Standard_D2s_v5", "capacity": 2},
    "properties": {
        "orchestrationMode": "Uniform",
        "upgradePolicy": {"mode": "Manual"},
        "virtualMachineProfile": {"scheduledEventsProfile": profile, "priority": "Spot"},
    },
}
refusal = refused(lambda: sets.begin_create_or_update("sdkrg", "vm1", model).result())
assert refusal.status_code == 400, refusal
del model["properties"]["virtualMachineProfile"]["priority"]
made = sets.begin_create_or_update("sdkrg", "vm1", model).result()
assert made.properties.provisioning_state == "Succeeded", made
changed = {
    "properties": {
        "virtualMachineProfile": {
            "scheduledEventsProfile": {
                "terminateNotificationProfile": {"enable": True, "notBeforeTimeout": "PT12M"}
            }
        }
    }
}
patched = sets.begin_update("sdkrg", "vm1", changed).result()
events = patched.properties.virtual_machine_profile.scheduled_events_profile
assert events.terminate_notification_profile.not_before_timeout == "PT12M", patched
assert [one.instance_id for one in machines.list("sdkrg", "vm1")] == ["0", "1"]
sets.begin_restart("sdkrg", "vm1").result()
sets.begin_delete_instances("sdkrg", "vm1", {"instanceIds": ["0"]}).result()
assert [one.instance_id for one in machines.list("sdkrg", "vm1")] == ["1"]
sets.begin_delete("sdkrg", "vm1").result()
assert list(sets.list_all()) == []
gone = refused(lambda: sets.get("sdkrg", "vm1"))
assert gone.error.code == "ResourceNotFound", gone
groups.begin_delete("sdkrg").result()
print("done")
