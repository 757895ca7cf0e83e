"""Sessions that the real service answered in 2019, replayed: the same answers, or a reason."""

import ast
import json
import re
from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest
import yaml

from lastcall.drivers.simulated import Script
from lastcall.engine.model import Action
from tests.web.desk import SUBSCRIPTION, WEB, a_desk, with_notice

RECORDINGS = Path(__file__).parents[3] / "shared/spec/recordings"
SESSION = RECORDINGS / "cli2019_test_vmss_terminate_notification.yaml"
EXCERPT = RECORDINGS / "net2019_ScheduledEvents_excerpt.json"
HOST = "https://management.azure.com"
HERE = "http://127.0.0.1:7080"
NOBODYS = "00000000-0000-0000-0000-000000000000"
VERSION = "2019-03-01"
SLOWLY = Script(delays=dict.fromkeys((Action.CREATE, Action.DELETE), timedelta(minutes=2)))

REPLAYED = re.compile(
    r"/providers/Microsoft\.Compute/(virtualMachineScaleSets/|locations/[^/]+/operations/)"
)
# Why a request of the session is not replayed here; the first that fits.
LEFT_OUT = (
    (r"raw\.githubusercontent\.com", "a list of images, on another server"),
    (r"/providers/Microsoft\.Network/", "another provider: networks"),
    (r"/providers/Microsoft\.Resources/", "another provider: deployments; the set is made by PUT"),
    (r"/resourcegroups/[^/]+\?", "another provider: resource groups"),
)

# Headers by which a client can see a difference.
COMPARED = (
    "azure-asyncnotification",
    "azure-asyncoperation",
    "cache-control",
    "content-type",
    "etag",
    "expires",
    "location",
    "pragma",
    "x-content-type-options",
)
NOT_COMPARED = {
    "content-length": "our models are written without blanks",
    "date": "another day",
    "server": "another server",
    "strict-transport-security": "a loopback address has no name that could be promised https",
    "transfer-encoding": "transport",
    "vary": "nothing is compressed",
    "x-ms-ratelimit-remaining-resource": "nothing is throttled (R101)",
    "x-ms-ratelimit-remaining-subscription-writes": "nothing is throttled (R101)",
    "x-ms-request-charge": "nothing is throttled (R101)",
}
# Ids, dates and opaque addresses: only the type is compared.
OPAQUE = frozenset({"uniqueId", "startTime", "endTime", "azure-asyncoperation", "operation.name"})

# Differences that are meant.
DELIBERATE = {
    "operation.status": "an update that touches no machine is over when it is answered, and the"
    " first look finds Succeeded where the service was still at it",
    "operation.endTime": "for the same reason it has ended",
}


class Absent:
    def __repr__(self):
        return "nothing"


ABSENT = Absent()


def text_of(recording):
    if not recording.exists():
        pytest.skip(f"{recording.name} is not here: it is no part of the repository")
    return recording.read_text()


@pytest.fixture(scope="module")
def session():
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load(text_of(SESSION), Loader=loader)["interactions"]


def local(text):
    return text.replace(HOST, HERE).replace(NOBODYS, SUBSCRIPTION)


def url_of(interaction):
    return local(interaction["request"]["uri"])


def body_of(interaction):
    """What was sent; the recorder wrote bytes as Python does."""
    body = interaction["request"]["body"]
    return None if body is None else local(ast.literal_eval(body).decode())


def why_left_out(url):
    return next((why for pattern, why in LEFT_OUT if re.search(pattern, url)), None)


def deployed_set(session):
    """The scale set of the recorded deployment, as a PUT of its own has it."""
    bodies = [
        json.loads(body_of(i)) for i in session if "/deployments/" in url_of(i) and body_of(i)
    ]
    resources = bodies[0]["properties"]["template"]["resources"]
    (model,) = [r for r in resources if r["type"].endswith("/virtualMachineScaleSets")]
    return {k: v for k, v in model.items() if k not in ("apiVersion", "dependsOn", "type")}


def differences(path, theirs, ours):
    """Yield every place where two values differ; opaque ones only by their type."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for key in theirs.keys() | ours.keys():
            yield from differences(f"{path}.{key}", theirs.get(key, ABSENT), ours.get(key, ABSENT))
    elif isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        for their, our in zip(theirs, ours, strict=True):
            yield from differences(f"{path}[]", their, our)
    elif path in OPAQUE or path.rpartition(".")[2] in OPAQUE:
        if type(theirs) is not type(ours):
            yield path, repr(theirs), repr(ours)
    elif theirs != ours:
        yield path, repr(theirs), repr(ours)


def compared(what, theirs, ours):
    """Return every difference between a recorded answer and ours."""
    assert ours.status_code == theirs["status"]["code"]
    unknown = theirs["headers"].keys() - set(COMPARED) - NOT_COMPARED.keys()
    assert not unknown, "a header that nobody has thought about"
    recorded = {name: theirs["headers"].get(name, [ABSENT])[0] for name in COMPARED}
    sent = {name: ours.headers.get(name, ABSENT) for name in COMPARED}
    body = json.loads(local(theirs["body"]["string"]))
    return [*differences(f"{what}.headers", recorded, sent), *differences(what, body, ours.json())]


class Client:
    """Sends what was recorded, but follows the operations that it is told of."""

    def __init__(self, desk):
        self._desk = desk
        self._follow = ""

    async def send(self, interaction):
        url = url_of(interaction)
        given = {name: values[0] for name, values in interaction["request"]["headers"].items()}
        answer = await self._desk.http.request(
            interaction["request"]["method"],
            self._follow if "/operations/" in url else url,
            content=body_of(interaction),
            headers={name: v for name, v in given.items() if name.lower() != "content-length"},
        )
        self._follow = answer.headers.get("azure-asyncoperation", self._follow)
        await self._desk.settle()
        return answer


async def test_the_session_is_answered_as_it_was(session):
    replayed = [i for i in session if REPLAYED.search(url_of(i))]
    found = []
    async with a_desk(group=url_of(replayed[0]).partition("/providers/")[0]) as desk:
        made = await desk.send("PUT", url_of(replayed[0]), deployed_set(session))
        assert made.status_code == 201
        await desk.settle()
        client = Client(desk)
        for interaction in replayed:
            what = "operation" if "/operations/" in url_of(interaction) else "set"
            found += compared(what, interaction["response"], await client.send(interaction))

    seen = {path for path, *_ in found}
    assert not [each for each in found if each[0] not in DELIBERATE]
    assert seen == DELIBERATE.keys(), "a reason for a difference that there is not"


def test_every_request_is_replayed_or_left_out_for_a_reason(session):
    urls = [url_of(i) for i in session]
    left_out = Counter(why_left_out(url) for url in urls if not REPLAYED.search(url))

    print(f"{len(urls) - left_out.total()} requests are replayed, {left_out.total()} are not:")
    for why, count in left_out.items():
        print(f"  {count}  {why}")
    assert None not in left_out
    assert left_out.keys() == {why for _, why in LEFT_OUT}


async def test_an_operation_that_is_under_way_looks_as_it_did(session):
    polls = [i["response"] for i in session if "Microsoft.Compute/locations" in url_of(i)]
    running = [poll for poll in polls if '"InProgress"' in poll["body"]["string"]]
    async with a_desk(script=SLOWLY) as desk:
        made = await desk.arm("PUT", WEB, with_notice(), version=VERSION)
        answer = await desk.send("GET", made.headers["azure-asyncoperation"])

    assert running
    for poll in running:
        assert compared("operation", poll, answer) == []


async def test_a_set_is_made_and_deleted_as_the_excerpt_shows():
    told = json.loads(text_of(EXCERPT))["interactions"]
    made, first, deleted, again, last, monitored = told
    async with a_desk(script=SLOWLY) as desk:
        put = await desk.arm("PUT", WEB, with_notice("PT6M"), version=VERSION)
        agrees(made, put)
        poll = await desk.send("GET", put.headers["azure-asyncoperation"])
        agrees(first, poll)
        assert poll.json().keys() == json.loads(first["body"]).keys()
        await desk.settle(timedelta(minutes=3))

        delete = await desk.arm("DELETE", WEB, version=VERSION)
        agrees(deleted, delete)
        assert delete.content == b""
        agrees(again, await desk.send("GET", delete.headers["azure-asyncoperation"]))
        await desk.settle(timedelta(minutes=3))

        over = await desk.send("GET", delete.headers["azure-asyncoperation"])
        agrees(last, over)
        assert over.json().keys() == json.loads(last["body"]).keys()
        assert over.json()["status"] == "Succeeded"
        outcome = await desk.send("GET", delete.headers["location"])
        agrees(monitored, outcome)
        assert outcome.content == b""
    says = made["body_says"]
    properties = put.json()["properties"]
    assert properties["provisioningState"] == says["provisioningState"]
    assert properties["singlePlacementGroup"] is says["singlePlacementGroup"]
    shown = properties["virtualMachineProfile"]["scheduledEventsProfile"]
    assert shown == says["virtualMachineProfile.scheduledEventsProfile"]


def agrees(theirs, ours):
    """The status, and the presence and form of the headers that clients follow."""
    assert ours.status_code == theirs["status"]
    headers = theirs.get("headers", {})
    for name in ("Azure-AsyncOperation", "Location", "x-ms-request-id", "Retry-After"):
        assert (name in headers) == (name in ours.headers), name
    for name in ("Azure-AsyncNotification", "Content-Type", "Content-Length"):
        if name in headers:
            assert ours.headers[name] == headers[name]
    for name in ("Azure-AsyncOperation", "Location"):
        if name in headers:
            assert form(ours.headers[name]) == form(headers[name])


def form(url):
    """An address of an operation without what is its own."""
    url = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "{id}", url)
    path, _, query = re.sub(r"^https?://[^/]+|(?<=/locations/)[^/]+", "", url).partition("?")
    return path, sorted(query.split("&"))
