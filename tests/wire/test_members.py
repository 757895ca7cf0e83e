import json
import re

import pytest
from hypothesis import given

from lastcall.wire.members import MEMBERS, refuse_members, visible
from lastcall.wire.versions import KNOWN

from .builders import DOCUMENTS, a_model, refusal_of, with_terminate

PATH = "properties.virtualMachineProfile.scheduledEventsProfile"


def refused(document, api_version, body=None):
    refusal = refusal_of(lambda: refuse_members(document, api_version, body))
    assert refusal is not None
    assert refusal.code == "BadRequest"
    return refusal


def test_the_refusal_has_the_words_of_the_service():
    body = b'{"properties":{"virtualMachineProfile":{"scheduledEventsProfile":{"x":1}}}}'
    refusal = refused(json.loads(body), "2018-10-01", body)
    position = body.index(b':{"x"') + 1
    assert str(refusal) == (
        "Could not find member 'scheduledEventsProfile' on object of type"
        f" 'VirtualMachineProfile'. Path '{PATH}', line 1, position {position}."
    )
    assert refusal.target == f"vmss.{PATH}"


def test_the_position_is_counted_in_the_line_where_the_member_stands():
    document = with_terminate({"enable": True})
    document["tags"] = {"scheduledEventsProfile": '"}{\\', "properties": "x"}
    document["list"] = [{"properties": 1}, {"virtualMachineProfile": [2]}]
    document["properties"] = {"a": [[], {}, {"b": 1}], **document["properties"]}
    body = json.dumps(document, indent=4).replace("\n", "\r\n").encode()
    message = str(refused(document, "2018-10-01", body))
    line, position = map(int, re.findall(r"line (\d+), position (\d+)", message)[0])
    before = body.decode().split("\n")[line - 1][:position]
    assert before.strip() == '"scheduledEventsProfile":'
    assert before.startswith(" " * 12 + '"')


def test_without_a_body_the_position_is_that_of_compact_json():
    document = a_model(orchestrationMode="Flexible")
    compact = json.dumps(document, separators=(",", ":"))
    message = str(refused(document, "2019-07-01"))
    assert "Could not find member 'orchestrationMode' on object of type 'Properties'" in message
    position = compact.index('"Flexible"')
    assert f"position {position}." in message


def test_an_escaped_name_is_found_and_another_body_gives_no_position():
    document = a_model(orchestrationMode="Flexible")
    body = json.dumps(document).replace("orchestration", "orc\\u0068estration").encode()
    position = body.index(b' "Flexible"')
    assert f"position {position}." in str(refused(document, "2019-07-01", body))
    assert "line 1, position 0." in str(refused(document, "2019-07-01", b"{}"))


@pytest.mark.parametrize("member", MEMBERS, ids=lambda member: member.path)
def test_each_member_is_refused_before_its_version_and_accepted_from_it_on(member):
    document = {}
    inner = document
    *steps, last = member.path.split(".")
    for step in steps:
        inner[step] = inner = {}
    inner[last] = {}
    older = [version for version in KNOWN if version[:10] < member.since]
    for version in older:
        assert f"vmss.{member.path}".startswith(refused(document, version).target)
        assert last not in json.dumps(visible(document, version))
    for version in (member.since, f"{member.since}-preview", "2030-01-01"):
        refuse_members(document, version)
        assert visible(document, version) == document


@pytest.mark.parametrize("version", KNOWN)
def test_a_plain_model_passes_every_version(version):
    refuse_members(a_model(overprovision=True), version)
    assert visible(a_model(overprovision=True), version) == a_model(overprovision=True)


@given(DOCUMENTS)
def test_any_document_is_accepted_or_refused_and_what_is_visible_is_accepted(document):
    body = json.dumps(document).encode()
    refusal = refusal_of(lambda: refuse_members(document, "2018-10-01", body))
    assert refusal is None or refusal.target
    shown = visible(document, "2018-10-01")
    refusal = refusal_of(lambda: refuse_members(shown, "2018-10-01"))
    assert refusal is None or refusal.code == "InvalidParameter"
