"""What every request must have, and what is said to one that has it not (R2-R14)."""

import pytest

from lastcall.wire.scheduledevents import VERSIONS as VERSIONS_OF_EVENTS
from tests.metadata.stage import EVENTS, INSTANCE, a_request, running

VERSIONS = "/metadata/versions"


@pytest.fixture
async def stage():
    async with running() as stage:
        await stage.machines("web_0", "web_1")
        yield stage


@pytest.mark.parametrize("value", ["true", "True", "TRUE"])
async def test_the_metadata_header_is_compared_without_case(stage, value):
    assert (await stage.ask(a_request(headers=[f"mEtAdAtA: {value}"]))).status == 200


@pytest.mark.parametrize("url", [EVENTS, INSTANCE, VERSIONS, "/", "/nowhere"])
@pytest.mark.parametrize("headers", [[], ["Metadata: false"], ["Metadata: "], ["X-Metadata: true"]])
async def test_without_the_metadata_header_everything_is_refused(stage, url, headers):
    answer = await stage.ask(a_request(url, headers=headers))

    assert answer.status == 400
    assert answer.error == "Bad request. Required metadata header not specified"


async def test_only_the_events_of_the_preview_do_not_insist_on_the_header(stage):
    preview = "?api-version=2017-03-01"

    assert (
        await stage.ask(a_request(f"/metadata/scheduledevents{preview}", headers=[]))
    ).status == 200
    assert (await stage.ask(a_request(f"/metadata/instance{preview}", headers=[]))).status == 400


@pytest.mark.parametrize("version", VERSIONS_OF_EVENTS)
async def test_an_approval_needs_the_header_in_every_version(stage, version):
    url = f"/metadata/scheduledevents?api-version={version}"
    answer = await stage.ask(a_request(url, "POST", headers=[], body=b"{}"))

    assert answer.status == 400
    assert answer.error == "Bad request. Required metadata header not specified"


async def test_a_header_after_the_body_is_none(stage):
    chunked = a_request(verb="POST", headers=["Transfer-Encoding: chunked"])
    answer = await stage.ask(chunked + b"0\r\nMetadata: true\r\n\r\n")

    assert answer.status == 400
    assert "header" in answer.error


async def test_what_came_through_a_proxy_is_refused(stage):
    answer = await stage.ask(a_request(headers=["Metadata: true", "X-Forwarded-For: 10.0.0.1"]))

    assert answer.status == 400
    assert "X-Forwarded-For" in answer.error


@pytest.mark.parametrize("origin", ["http://evil.example", "http://127.0.0.1:7169", "null", ""])
@pytest.mark.parametrize("verb", ["GET", "POST"])
async def test_a_web_page_may_neither_read_nor_approve(stage, verb, origin):
    headers = ["Metadata: true", f"oRiGiN: {origin}"]
    for url in (EVENTS, INSTANCE, VERSIONS, "/metadata/scheduledevents?api-version=2017-03-01"):
        answer = await stage.ask(a_request(url, verb, headers, body=b"{}"))

        assert answer.status == 400
        assert answer.error == "Bad request. The Origin header is not allowed"


async def test_a_request_of_a_web_page_is_refused_among_those_of_guests(stage):
    client = await stage.connect()
    guest, page = a_request(), a_request(headers=["Metadata: true", "Origin: null"])
    statuses = [(await client.ask(raw)).status for raw in (guest, page) * 3]
    client.send(page + guest)
    statuses += [(await client.answer()).status, (await client.answer()).status]

    assert statuses == [200, 400] * 3 + [400, 200]


def at_host(host, url=EVENTS, verb="GET"):
    return f"{verb} {url} HTTP/1.1\r\nHost: {host}\r\nMetadata: true\r\n\r\n".encode()


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:7169",
        "127.0.0.1.evil.example",
        "evil.internal.example",
        "a.b",
        "localhost.evil.example:80",
        "127.0.0.1:7169:x",
        "user@127.0.0.1",
        "[::1].evil.example",
    ],
)
async def test_a_page_whose_own_name_leads_here_reads_nothing(stage, host):
    for url in (EVENTS, INSTANCE, VERSIONS, "/metadata/scheduledevents?api-version=2017-03-01"):
        for verb in ("GET", "POST"):
            answer = await stage.ask(at_host(host, url, verb))
            assert answer.status == 400
            assert answer.error == "Bad request. The Host header is not an address or a local name"


@pytest.mark.parametrize(
    "host",
    [
        "169.254.169.254",
        "169.254.169.254:80",
        "127.0.0.1:7169",
        "127.1.0.1",
        "[::1]:7169",
        "[fe80::1]",
        "localhost",
        "LocalHost:7169",
        "web.localhost",
        "metadata",
        "host.docker.internal:7169",
        "",
    ],
)
async def test_guests_ask_by_address_or_by_a_local_name(stage, host):
    assert (await stage.ask(at_host(host))).status == 200


async def test_a_foreign_host_is_refused_among_guests_and_however_often_it_asks(stage):
    client = await stage.connect()
    guest, page = at_host("169.254.169.254"), at_host("evil.example")
    twice = a_request(headers=["Metadata: true", "Host: evil.example"])

    statuses = [(await client.ask(raw)).status for raw in (guest, page) * 3]

    assert statuses == [200, 400] * 3
    assert (await stage.ask(twice)).status == 400


async def test_an_old_client_without_a_host_is_served(stage):
    old = f"GET {EVENTS} HTTP/1.0\r\nMetadata: true\r\n\r\n".encode()

    assert (await stage.ask(old)).status == 200


@pytest.mark.parametrize("twice", ["api-version=2020-07-01", "API-Version=2019-08-01"])
async def test_a_parameter_given_twice_is_refused(stage, twice):
    answer = await stage.ask(a_request(f"{EVENTS}&{twice}"))

    assert answer.status == 400
    assert "more than once" in answer.error


@pytest.mark.parametrize(
    "url",
    [
        "/metadata/scheduledevents",
        "/metadata/scheduledevents?api-version=",
        "/metadata/scheduledevents?api-version=latest",
        "/metadata/scheduledevents?api-version=2021-02-01",
        "/metadata/instance",
        "/metadata/instance?api-version=2020-07-01",
    ],
)
async def test_an_unknown_version_is_answered_with_the_newest_ones(stage, url):
    answer = await stage.ask(a_request(url))

    assert answer.status == 400
    assert answer.json() == {
        "error": "Bad request. api-version is invalid or was not specified in the request."
        " For more information refer to aka.ms/azureimds",
        "newest-versions": ["2025-04-07", "2024-07-17", "2024-03-15"],
    }


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/metadata",
        "/metadata/",
        "/metadata/attested",
        "/metadata/scheduledevents/x",
        "/vm/web_0",
        "*",
    ],
)
async def test_an_unknown_path_is_not_found(stage, path):
    answer = await stage.ask(a_request(f"{path}?api-version=2020-07-01"))

    assert (answer.status, answer.error) == (404, "Not found")


@pytest.mark.parametrize(
    "path",
    [
        "/METADATA/ScheduledEvents",
        "/metadata/scheduledevents/",
        "http://host/metadata/scheduledevents",
    ],
)
async def test_the_path_has_no_case_and_may_end_in_a_slash(stage, path):
    assert (await stage.ask(a_request(f"{path}?api-version=2020-07-01"))).status == 200


@pytest.mark.parametrize(
    ("verb", "url", "allowed"),
    [
        ("PUT", EVENTS, "GET, POST"),
        ("DELETE", EVENTS, "GET, POST"),
        ("POST", INSTANCE, "GET"),
        ("POST", VERSIONS, "GET"),
    ],
)
async def test_a_wrong_verb_is_told_the_right_ones(stage, verb, url, allowed):
    answer = await stage.ask(a_request(url, verb=verb))

    assert (answer.status, answer.headers["allow"]) == (405, allowed)
    assert verb in answer.error


async def test_a_head_is_refused_without_a_body_and_the_connection_goes_on(stage):
    client = await stage.connect()
    client.send(a_request(verb="HEAD") + a_request())

    assert (await client.answer(has_body=False)).status == 405
    assert (await client.answer()).status == 200


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (a_request("/nowhere", verb="PUT", headers=["X-Forwarded-For: 1"]), 400),
        (a_request("/nowhere", verb="PUT"), 404),
        (a_request("/metadata/scheduledevents?a=1&a=2", verb="PUT"), 405),
        (a_request("/vm/nobody/metadata/scheduledevents?api-version=1"), 400),
        (a_request(f"/vm/nobody{EVENTS}"), 404),
    ],
)
async def test_the_first_thing_that_is_wrong_decides(stage, request_bytes, status):
    assert (await stage.ask(request_bytes)).status == status


async def test_too_many_parameters_are_refused(stage):
    answer = await stage.ask(
        a_request("/metadata/versions?" + "&".join(f"p{n}=" for n in range(99)))
    )

    assert answer.status == 400


async def test_the_versions_need_no_version(stage):
    versions = (await stage.ask(a_request(VERSIONS))).json()["apiVersions"]

    assert versions == sorted(versions)
    assert versions[0] == "2017-03-01"
    assert versions[-1] == "2025-04-07"
