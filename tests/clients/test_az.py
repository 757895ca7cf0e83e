"""The real Azure CLI, unchanged, through the documents' own commands."""

import json
import urllib.request

import pytest

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


def test_a_spot_set_can_be_evicted(az, group):
    target = f"--resource-group {group} --name spot"
    az(
        f"vmss create {target} --image UbuntuLTS {KEY} --priority Spot --eviction-policy Delete"
        " --orchestration-mode Uniform --instance-count 2"
    )
    az(f"vmss simulate-eviction {target} --instance-id 0")
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
