"""The real Azure CLI, unchanged, through the documents' own commands."""

import json
import urllib.request

import pytest

from tests.clients.tools import Az

pytestmark = pytest.mark.clients

KEY = "--admin-username azureuser --generate-ssh-keys"
MODES = ["Uniform", "Flexible"]


@pytest.fixture(scope="module")
def group(az):
    made = az("group create --name myResourceGroup --location westus")
    assert made["name"] == "myResourceGroup"
    assert made["properties"]["provisioningState"] == "Succeeded"
    yield "myResourceGroup"
    assert az("group exists --name myResourceGroup") is True
    assert az("group show --name myResourceGroup")["location"] == "westus"
    az("group delete --name myResourceGroup --yes")
    assert az("group exists --name myResourceGroup") is False


def notification(shown):
    profile = shown["virtualMachineProfile"].get("scheduledEventsProfile") or {}
    return profile.get("terminateNotificationProfile")


@pytest.mark.parametrize("mode", MODES)
def test_the_documents_commands(az, group, mode):
    target = f"--resource-group {group} --name myVMScaleSet"
    created = az(
        f"vmss create {target} --image UbuntuLTS {KEY} --terminate-notification-time 10"
        f" --orchestration-mode {mode}"
    )
    enabled = {"enable": True, "notBeforeTimeout": "PT10M"}
    assert notification(created["vmss"]) == enabled
    assert created["vmss"]["provisioningState"] == "Succeeded"

    updated = az(
        f"vmss update {target} --enable-terminate-notification true"
        " --terminate-notification-time 10"
    )
    assert notification(updated) == enabled
    shown = az(f"vmss show {target}")
    assert (shown["orchestrationMode"], shown["sku"]["capacity"]) == (mode, 2)
    assert shown["provisioningState"] == "Succeeded"
    listed = az(f"vmss list --resource-group {group}")
    assert [one["name"] for one in listed] == ["myVMScaleSet"]
    assert "myVMScaleSet" in az("vmss list -o table")

    assert az(f"vmss scale {target} --new-capacity 3")["sku"]["capacity"] == 3
    instances = az(f"vmss list-instances {target}")
    assert len(instances) == 3
    ids = [one["instanceId"] if mode == "Uniform" else one["name"] for one in instances]
    if mode == "Uniform":
        assert ids == ["0", "1", "2"]
    view = az(f"vmss get-instance-view {target}")
    assert view["virtualMachine"]["statusesSummary"][0]["count"] == 3
    codes = {status["code"] for status in view["statuses"]}
    assert codes == {"ProvisioningState/succeeded"}
    one = az(f"vmss get-instance-view {target} --instance-id {ids[0]}")
    assert "PowerState/running" in {status["code"] for status in one["statuses"]}

    _act(az, target, ids)
    protected = az(f"vmss update {target} --instance-id {ids[2]} --protect-from-scale-in true")
    assert protected["protectionPolicy"]["protectFromScaleIn"] is True

    az(f"vmss delete-instances {target} --instance-ids {ids[0]}")
    assert len(az(f"vmss list-instances {target}")) == 2
    az(f"vmss delete-instances {target} --instance-ids {ids[1]} --no-wait")
    disabled = az(f"vmss update {target} --enable-terminate-notification false")
    assert not (notification(disabled) or {}).get("enable")
    az(f"vmss delete {target}")
    assert az(f"vmss list --resource-group {group}") == []


def _act(az, target, ids):
    first, second = ids[:2]
    az(f"vmss restart {target} --instance-ids {first}")
    az(f"vmss restart {target}")
    az(f"vmss deallocate {target} --instance-ids {first}")
    view = az(f"vmss get-instance-view {target} --instance-id {first}")
    assert "PowerState/deallocated" in {status["code"] for status in view["statuses"]}
    az(f"vmss deallocate {target} --instance-ids {first} {second}")
    az(f"vmss deallocate {target}")
    az(f"vmss start {target} --instance-ids {first}")
    az(f"vmss start {target}")
    az(f"vmss stop {target} --instance-ids {first}")
    az(f"vmss reimage {target} --instance-ids {first}")
    az(f"vmss update-instances {target} --instance-ids {first}")
    az(f"vmss update-instances {target} --instance-ids '*'")


@pytest.mark.parametrize("mode", MODES)
def test_a_spot_set_can_be_evicted(az, group, mode):
    target = f"--resource-group {group} --name spot"
    az(
        f"vmss create {target} --image UbuntuLTS {KEY} --priority Spot --eviction-policy Delete"
        f" --orchestration-mode {mode} --instance-count 2"
    )
    first = az(f"vmss list-instances {target}")[0]
    name = first["instanceId"] if mode == "Uniform" else first["name"]
    az(f"vmss simulate-eviction {target} --instance-id {name}")
    az(f"vmss delete {target}")


def test_autoscale_and_the_activity_log(az, group):
    target = f"--resource-group {group} --name scaled"
    az(f"vmss create {target} --image UbuntuLTS {KEY} --orchestration-mode Uniform")
    made = az(
        f"monitor autoscale create --resource-group {group} --name auto --resource scaled"
        " --resource-type Microsoft.Compute/virtualMachineScaleSets"
        " --min-count 3 --max-count 5 --count 3"
    )
    assert made["profiles"][0]["capacity"]["minimum"] == "3"
    az(
        f"monitor autoscale rule create --resource-group {group} --autoscale-name auto"
        " --condition 'Percentage CPU > 70 avg 5m' --scale out 1"
    )
    assert len(az(f"monitor autoscale show -g {group} -n auto")["profiles"][0]["rules"]) == 1
    logged = az(f"monitor activity-log list --resource-group {group} --offset 1h")
    names = {one["operationName"]["value"] for one in logged}
    assert "Microsoft.Insights/autoscaleSettings/write" in names
    assert all(one["caller"] for one in logged)
    az(f"monitor autoscale delete -g {group} -n auto")
    az(f"vmss delete {target}")


def test_a_terminate_event_is_seen_and_approved_while_az_waits(az, group, where):
    target = f"--resource-group {group} --name held"
    az(
        f"vmss create {target} --image UbuntuLTS {KEY} --terminate-notification-time 10"
        " --orchestration-mode Uniform --instance-count 1"
    )
    url = f"{where['metadata']}/vm/held_0/metadata/scheduledevents?api-version=2020-07-01"

    def metadata(body=None):
        request = urllib.request.Request(url, body, {"Metadata": "true"})
        with urllib.request.urlopen(request) as answer:
            return answer.read()

    assert json.loads(metadata())["Events"] == []
    az(f"vmss delete-instances {target} --instance-ids 0 --no-wait")
    (event,) = json.loads(metadata())["Events"]
    assert (event["EventType"], event["Resources"]) == ("Terminate", ["held_0"])
    assert len(az(f"vmss list-instances {target}")) == 1

    body = {"StartRequests": [{"EventId": event["EventId"]}]}
    metadata(json.dumps(body).encode())
    az(f"vmss wait {target} --updated --interval 1 --timeout 60")
    az(f"vmss delete {target}")


def test_the_account_is_there_without_a_login(az):
    account = az("account show")
    assert account["state"] == "Enabled"
    assert "westus" in az("account list-locations -o table")
    assert len(az("account get-access-token")["accessToken"].split(".")) == 3


@pytest.mark.parametrize(
    ("line", "code", "says"),
    [
        ("vmss show -g myResourceGroup -n none", 3, "ResourceNotFound"),
        ("group show -n none", 3, "ResourceGroupNotFound"),
        ("vmss restart -g myResourceGroup -n none", 3, "ResourceNotFound"),
    ],
)
def test_a_failure_is_told_as_az_tells_it(az, group, line, code, says):
    done = az.run(line)
    assert done.returncode == code, done.stderr
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_a_notice_outside_its_bounds_is_refused_and_nothing_is_left(az, group):
    done = az.run(
        f"vmss create -g {group} -n wrong --image UbuntuLTS {KEY}"
        " --terminate-notification-time 16 --orchestration-mode Uniform"
    )
    assert done.returncode == 1
    assert "PT5M" in done.stderr, done.stderr
    assert az(f"vmss list -g {group}") == []


def with_variables(variables, folder, **more):
    return Az({**variables, "AZURE_CONFIG_DIR": str(folder), **more})


def test_a_principal_signs_in_by_hand(where, variables, tmp_path):
    az = with_variables(variables, tmp_path)
    az("config set core.collect_telemetry=no")
    az(f"cloud register --name Local --endpoint-resource-manager {where['control']}")
    az("cloud set --name Local")
    known = variables["AZURE_CLIENT_ID"], variables["AZURE_CLIENT_SECRET"]
    line = "login --service-principal -u {} -p {} --tenant " + where["tenant"]
    (account,) = az(line.format(*known))
    assert account["id"] == where["subscription"]
    assert isinstance(az("group list"), list)

    az("logout")
    az("account clear")
    wrong = az.run(line.format(known[0], "wrong"))
    assert wrong.returncode == 1
    assert "AADSTS7000215" in wrong.stderr
    assert "Traceback" not in wrong.stderr


@pytest.mark.parametrize("way", ["AZURE_POD_IDENTITY_AUTHORITY_HOST", "IDENTITY_ENDPOINT"])
def test_a_managed_identity_signs_in(where, variables, tmp_path, way):
    place = where["portal"]
    if way == "IDENTITY_ENDPOINT":
        place = f"{place}/metadata/identity/oauth2/token"
    az = with_variables(variables, tmp_path, **{way: place, "IDENTITY_HEADER": "x"})
    az("config set core.collect_telemetry=no")
    az(f"cloud register --name Local --endpoint-resource-manager {where['control']}")
    az("cloud set --name Local")
    (account,) = az("login --identity")
    assert account["id"] == where["subscription"]
    assert isinstance(az("vmss list"), list)


def test_a_template_is_validated_foreseen_and_deployed(az, group, tmp_path):
    template = tmp_path / "template.json"
    template.write_text(
        json.dumps(
            {
                "$schema": "https://schema.management.azure.com/schemas/2019-04-01/"
                "deploymentTemplate.json#",
                "contentVersion": "1.0.0.0",
                "parameters": {"name": {"type": "string"}},
                "resources": [
                    {
                        "type": "Microsoft.Network/virtualNetworks",
                        "apiVersion": "2023-09-01",
                        "name": "[concat(parameters('name'), '-net')]",
                        "location": "[resourceGroup().location]",
                        "properties": {"addressSpace": {"addressPrefixes": ["10.0.0.0/16"]}},
                    }
                ],
                "outputs": {"where": {"type": "string", "value": "[resourceGroup().location]"}},
            }
        )
    )
    target = f"--resource-group {group} --template-file {template} --parameters name=web"
    assert az(f"deployment group validate {target}")["properties"]["provisioningState"]
    foreseen = az(f"deployment group what-if {target} --no-pretty-print")
    changes = {
        one["resourceId"].rpartition("/")[2]: one["changeType"] for one in foreseen["changes"]
    }
    assert changes.pop("web-net") == "Create"
    assert set(changes.values()) <= {"Ignore"}
    made = az(f"deployment group create --name one {target}")
    assert made["properties"]["provisioningState"] == "Succeeded"
    assert made["properties"]["outputs"]["where"]["value"] == "westus"
    assert az(f"network vnet show -g {group} -n web-net")["location"] == "westus"
    assert "one" in [one["name"] for one in az(f"deployment group list -g {group}")]
    parts = az(f"deployment operation group list -g {group} --name one")
    assert parts[0]["properties"]["provisioningState"] == "Succeeded"

    broken = template.with_name("broken.json")
    broken.write_text(template.read_text().replace("concat", "nonsense"))
    done = az.run(
        f"deployment group create -g {group} --name two --template-file {broken}"
        " --parameters name=web"
    )
    assert done.returncode == 1
    assert "InvalidTemplate" in done.stderr
    assert "Traceback" not in done.stderr
    az(f"network vnet delete -g {group} -n web-net")


def test_a_virtual_machine_lives_and_goes(az, group):
    target = f"--resource-group {group} --name vm1"
    made = az(f"vm create {target} --image UbuntuLTS {KEY}")
    assert made["powerState"] == "VM running"
    shown = az(f"vm show {target}")
    assert shown["provisioningState"] == "Succeeded"
    az(f"vm restart {target}")
    az(f"vm redeploy {target}")
    az(f"vm deallocate {target}")
    view = az(f"vm get-instance-view {target}")
    codes = {status["code"] for status in view["instanceView"]["statuses"]}
    assert "PowerState/deallocated" in codes
    az(f"vm start {target}")
    az(f"vm stop {target}")
    assert [one["name"] for one in az(f"vm list --resource-group {group}")] == ["vm1"]
    az(f"vm delete {target} --yes")
    assert az(f"vm list --resource-group {group}") == []
