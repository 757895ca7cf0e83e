"""Tables, and the stream that `watch` reads."""

from lastcall.cli.output import Table, facts, plain, text
from lastcall.cli.tables import clock_time, moment
from lastcall.cli.watching import messages


def test_plain_columns_line_up_and_nothing_is_cut_off():
    long = "x" * 300
    lines = plain(Table(("A", "B"), [("1", long), ("22", "")]))
    assert lines == ["A   B", f"1   {long}", "22"]


def test_values_read_as_a_person_wants_them():
    assert [text(each) for each in (None, True, False, ["a", "b"], 0)] == [
        *("", "yes", "no", "a, b", "0")
    ]


def test_facts_leave_out_what_is_empty():
    assert facts([("a", None), ("b", 1), ("c", [])]).rows == [("b", "1")]


def test_instants_are_shown_to_the_second():
    assert clock_time("2026-01-02T03:04:05Z") == "03:04:05"
    assert moment("2026-01-02T03:04:05.678Z") == "2026-01-02 03:04:05"
    assert moment(None) == ""


def test_server_sent_events_are_read():
    stream = ["retry: 1000", "", ": still here", "", "id: 7", 'data: {"a":', "data:1}", "", "data"]
    assert list(messages(stream)) == ['{"a":\n1}']
