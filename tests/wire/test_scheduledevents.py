import json
from datetime import UTC, datetime, timedelta, timezone
from email.utils import format_datetime, parsedate_to_datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lastcall.engine.document import Document, VisibleEvent
from lastcall.engine.errors import InvalidParameterError
from lastcall.engine.limits import START_REQUESTS_MAX
from lastcall.engine.model import EventId, EventType, Source
from lastcall.wire.scheduledevents import (
    VERSIONS,
    encode_document,
    encode_not_before,
    parse_start_requests,
)

from .builders import JSON, refusal_of

GUID = "3F2504E0-4F89-41D3-9A0C-0305E82C3301"
SAMPLES = (
    Path(__file__).parents[2].parent
    / "shared"
    / "spec"
    / "data"
    / "imds_scheduledevents_wire_samples.json"
)


def an_event(**changes):
    given = {
        "id": EventId(GUID),
        "type": EventType.TERMINATE,
        "has_started": False,
        "resources": ("web_3",),
        "not_before": datetime(2026, 3, 5, 7, 8, 9, 999_999, tzinfo=UTC),
        "description": "Gone soon.",
        "source": Source.USER,
        "duration_s": -1,
    }
    return VisibleEvent(**(given | changes))


def a_document(*events, incarnation=7):
    return Document(incarnation=incarnation, events=events)


HEAD = '{"DocumentIncarnation":7,"Events":['
FREEZE = (
    f'{{"EventId":"{GUID}","EventStatus":"Scheduled","EventType":"Freeze",'
    '"ResourceType":"VirtualMachine","Resources":["web_3"],'
    '"NotBefore":"Thu, 05 Mar 2026 07:08:09 GMT"'
)
MARKED = FREEZE.replace("web_3", "_web_3")


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("2017-03-01", MARKED + "}"),
        ("2017-08-01", FREEZE + "}"),
        ("2017-11-01", FREEZE + "}"),
        ("2019-01-01", FREEZE + "}"),
        ("2019-04-01", FREEZE + ',"Description":"Gone soon."}'),
        ("2019-08-01", FREEZE + ',"Description":"Gone soon.","EventSource":"User"}'),
        (
            "2020-07-01",
            FREEZE + ',"Description":"Gone soon.","EventSource":"User","DurationInSeconds":-1}',
        ),
    ],
)
def test_each_version_has_exactly_its_own_fields_in_the_order_of_the_wire(version, expected):
    encoded = encode_document(a_document(an_event(type=EventType.FREEZE)), version)
    assert encoded.decode() == HEAD + expected + "]}"


@pytest.mark.parametrize(
    ("kind", "since"),
    [
        (EventType.FREEZE, "2017-03-01"),
        (EventType.REBOOT, "2017-03-01"),
        (EventType.REDEPLOY, "2017-03-01"),
        (EventType.PREEMPT, "2017-11-01"),
        (EventType.TERMINATE, "2019-01-01"),
    ],
)
def test_an_event_is_seen_from_the_version_on_that_brought_its_type(kind, since):
    document = a_document(an_event(type=kind))
    seen = [v for v in VERSIONS if json.loads(encode_document(document, v))["Events"]]
    assert seen == list(VERSIONS[VERSIONS.index(since) :])


def test_versions_go_from_the_oldest_to_the_newest():
    assert len(VERSIONS) == 7
    assert list(VERSIONS) == sorted(VERSIONS)


def test_a_document_without_events_has_an_empty_array():
    encoded = encode_document(a_document(incarnation=1), "2020-07-01")
    assert encoded == b'{"DocumentIncarnation":1,"Events":[]}'


def test_a_started_event_has_no_not_before():
    document = a_document(an_event(has_started=True, not_before=None))
    (event,) = json.loads(encode_document(document, "2020-07-01"))["Events"]
    assert (event["EventStatus"], event["NotBefore"]) == ("Started", "")


def test_not_before_is_told_in_gmt_whatever_the_zone():
    east = datetime(2026, 1, 1, 1, 30, tzinfo=timezone(timedelta(hours=2)))
    assert encode_not_before(east) == "Wed, 31 Dec 2025 23:30:00 GMT"


@given(st.datetimes(timezones=st.just(UTC)))
def test_not_before_is_what_the_standard_library_writes(moment):
    expected = format_datetime(moment.replace(microsecond=0), usegmt=True)
    assert encode_not_before(moment) == expected


def test_published_documents_come_out_byte_for_byte():
    if not SAMPLES.exists():
        pytest.skip("The folder with the published samples is not here.")
    raws = [s["raw"] for s in json.loads(SAMPLES.read_text())["samples"] if "raw" in s]
    assert raws
    for raw in raws:
        given = json.loads(raw)
        event = given["Events"][0]
        moment = parsedate_to_datetime(event["NotBefore"])
        document = a_document(
            an_event(
                id=EventId(event["EventId"]),
                type=EventType(event["EventType"]),
                resources=tuple(event["Resources"]),
                not_before=moment,
                description=event.get("Description", ""),
                source=Source(event.get("EventSource", "Platform")),
            ),
            incarnation=given["DocumentIncarnation"],
        )
        version = "2019-08-01" if "EventSource" in event else "2019-01-01"
        assert encode_document(document, version).decode() == raw


def test_approvals_are_read_each_once_and_in_upper_case():
    other = GUID.replace("3F", "4F")
    body = {"StartRequests": [{"EventId": GUID.lower()}, {"EventId": GUID}, {"EventId": other}]}
    assert parse_start_requests(json.dumps(body).encode()) == (GUID, other)


@pytest.mark.parametrize(
    "body",
    [
        '{"startrequests":[{"eventid":"%s"}]}',
        '{"DocumentIncarnation":5,"StartRequests":[{"EventId":"%s","Why":null}]}',
        ' {"StartRequests" : [ {"EventId":"%s"} ] }\r\n',
    ],
)
def test_case_spaces_and_further_keys_do_not_matter(body):
    assert parse_start_requests((body % GUID).encode()) == (GUID,)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"\xff", "not JSON"),
        (b'{"StartRequests":"\xff"}', "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"StartRequests=1", "not JSON"),
        (b"null", "must be a JSON object"),
        (b"[]", "must be a JSON object"),
        (b"{}", "must be a JSON object"),
        (b'{"StartRequests":[]}', "must be a JSON object"),
        (b'{"StartRequests":{}}', "must be a JSON object"),
        (b'{"StartRequests":null}', "must be a JSON object"),
        (b'{"StartRequests":[1]}', "must have a GUID"),
        (b'{"StartRequests":[{}]}', "must have a GUID"),
        (b'{"StartRequests":[{"EventId":5}]}', "must have a GUID"),
        (b'{"StartRequests":[{"EventId":"x"}]}', "must have a GUID"),
        (b'{"StartRequests":[{"EventId":"%s"},{}]}' % GUID.encode(), "must have a GUID"),
        (b'{"StartRequests":[{"EventId":"%s\\n"}]}' % GUID.encode(), "must have a GUID"),
    ],
)
def test_a_malformed_approval_is_refused_in_one_sentence(body, reason):
    with pytest.raises(InvalidParameterError, match=reason):
        parse_start_requests(body)


def test_more_approvals_than_the_limit_are_refused():
    body = {"StartRequests": [{"EventId": GUID}] * START_REQUESTS_MAX}
    assert parse_start_requests(json.dumps(body).encode()) == (GUID,)
    body["StartRequests"].append({"EventId": GUID})
    with pytest.raises(InvalidParameterError, match="at most 100"):
        parse_start_requests(json.dumps(body).encode())


@given(st.binary() | JSON.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_are_approvals_or_are_refused(body):
    refusal = refusal_of(lambda: parse_start_requests(body))
    assert refusal is None or isinstance(refusal, InvalidParameterError)
