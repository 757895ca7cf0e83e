"""What every store must do; `conftest.STORES` lists them."""

import asyncio

import pytest
from msgspec.structs import replace

from lastcall.engine.effects import Step
from lastcall.engine.errors import ResourceNotFoundError, ScopeNotFoundError
from lastcall.engine.limits import (
    FINISHED_KEPT,
    HISTORY_ROWS_MAX,
    IDLE_AFTER,
    OPERATIONS_KEPT,
)
from lastcall.engine.model import EventId, MachineId, ScopeId, ScopeKind, SetId, Status
from lastcall.engine.operations import OperationStatus
from lastcall.ports import Commit, HistoryFilter

from .builders import (
    DAY,
    MINUTE,
    NOON,
    SECOND,
    a_full_machine,
    a_full_scale_set,
    a_machine,
    a_note,
    a_perform,
    a_scale_set,
    a_scope,
    an_ended_operation,
    an_event,
    an_operation,
    created,
    with_version,
)

LEASE = 30 * SECOND


def recorded(*steps: Step):
    """Return the work that records decisions at noon."""

    def work(tx) -> None:
        for step in steps:
            tx.record(step, NOON)

    return work


# Scopes


async def test_a_scope_comes_back_as_it_was_recorded(store):
    events = (
        an_event("Scheduled"),
        an_event("Approved", status=Status.APPROVED),
        an_event(
            "Started",
            "web_0",
            "web_1",
            status=Status.STARTED,
            started_at=NOON,
            remaining=(MachineId("web_1"),),
            operations=("o1", "o2"),
            description="Because “so”.",
            duration_s=9,
        ),
        an_event("quiet", type=None),
    )
    scope = a_scope(
        machines=(a_machine("web_0"), a_full_machine("web_1")),
        events=events,
        set_id=SetId("web"),
        incarnation=41,
        watched_at=NOON,
    )

    await store.transact(recorded(created(scope)))

    assert await store.read(lambda r: r.scope(scope.id)) == with_version(scope, 1)


@pytest.mark.parametrize("kind", ScopeKind)
async def test_every_kind_of_scope_comes_back(store, kind):
    scope = a_scope(kind=kind)

    await store.transact(recorded(created(scope)))

    assert await store.read(lambda r: tuple(r.scopes())) == (with_version(scope, 1),)


async def test_machines_and_events_keep_their_order(store):
    scope = a_scope(
        machines=[a_machine(f"web_{n}", ordinal=at) for at, n in enumerate((9, 1, 5), start=1)],
        events=[an_event(letter, "web_9") for letter in "ZAM"],
    )

    await store.transact(recorded(created(scope)))
    found = await store.read(lambda r: r.scope(scope.id))

    assert [*found.machines] == ["web_9", "web_1", "web_5"]
    assert [*found.events] == ["Z", "A", "M"]


async def test_a_later_decision_replaces_adds_and_removes(store):
    first = a_scope(
        machines=[a_machine("web_0"), a_machine("web_1")],
        events=[an_event("A"), an_event("B", "web_1")],
    )
    await store.transact(recorded(created(first)))
    before = await store.transact(lambda tx: tx.scope(first.id))
    after = replace(
        before,
        machines={
            "web_1": replace(before.machines["web_1"], failure="x"),
            "web_2": a_machine("web_2"),
        },
        events={"B": replace(before.events["B"], status=Status.APPROVED), "C": an_event("C")},
        incarnation=2,
        watched_at=NOON,
    )

    await store.transact(recorded(Step(before=before, scope=after)))

    assert await store.read(lambda r: r.scope(first.id)) == with_version(after, 2)
    assert await store.read(lambda r: tuple(r.scopes())) == (with_version(after, 2),)


async def test_an_unknown_scope_is_refused(store):
    with pytest.raises(ScopeNotFoundError):
        await store.read(lambda r: r.scope(ScopeId("nowhere")))


async def test_a_forgotten_scope_is_gone_with_its_machines_and_events(store):
    scope = a_scope(machines=[a_machine()], events=[an_event()])
    await store.transact(recorded(created(scope)))

    await store.transact(lambda tx: tx.forget_scope(scope.id))
    with pytest.raises(ScopeNotFoundError):
        await store.read(lambda r: r.scope(scope.id))
    assert await store.read(lambda r: r.next_due()) is None

    await store.transact(recorded(created(a_scope())))
    found = await store.read(lambda r: r.scope(scope.id))
    assert (found.machines, found.events) == ({}, {})


async def test_a_scope_that_came_and_went_in_one_transaction_leaves_nothing(store):
    def work(tx) -> None:
        tx.record(created(a_scope(machines=[a_machine()], events=[an_event()])), NOON)
        tx.forget_scope(ScopeId("scope"))
        with pytest.raises(ScopeNotFoundError):
            tx.scope(ScopeId("scope"))

    await store.transact(work)

    assert await store.read(lambda r: tuple(r.scopes())) == ()


# Sets and their documents


async def test_a_set_comes_back_as_it_was_written(store):
    plain, full = a_scale_set("plain"), a_full_scale_set()

    def work(tx) -> None:
        tx.put_scale_set(plain, b"{}")
        tx.put_scale_set(full, b'{"a":1}')

    await store.transact(work)

    assert await store.read(lambda r: r.scale_set(plain.id)) == plain
    assert await store.read(lambda r: r.scale_set(full.id)) == full
    assert await store.read(lambda r: r.document(plain.id, 1)) == b"{}"
    assert await store.read(lambda r: r.document(full.id, 9)) == b'{"a":1}'


async def test_sets_are_listed_by_name_and_by_group(store):
    def work(tx) -> None:
        tx.put_scale_set(a_scale_set("b"))
        tx.put_scale_set(a_scale_set("a", resource_group="Other"))

    await store.transact(work)

    assert [s.id for s in await store.read(lambda r: r.scale_sets())] == ["a", "b"]
    assert [s.id for s in await store.read(lambda r: r.scale_sets("OTHER"))] == ["a"]
    assert await store.read(lambda r: list(r.scale_sets("none"))) == []


async def test_a_transaction_lists_the_sets_as_it_sees_them(store):
    await store.transact(lambda tx: tx.put_scale_set(a_scale_set("a")))

    def work(tx):
        tx.forget_scale_set(SetId("a"))
        tx.put_scale_set(a_scale_set("b"))
        with pytest.raises(ResourceNotFoundError):
            tx.scale_set(SetId("a"))
        return [found.id for found in tx.scale_sets()], tx.scale_set(SetId("b")).id

    assert await store.transact(work) == (["b"], "b")


async def test_only_the_documents_in_use_are_kept(store):
    for number in (1, 2, 3):
        scale_set = a_scale_set(number=number)
        body = str(number).encode()
        await store.transact(lambda tx, s=scale_set, b=body: tx.put_scale_set(s, b))

    await store.transact(lambda tx: tx.put_operation(an_operation()))
    await store.transact(lambda tx: keep(tx, frozenset({1, 3})))

    assert await store.read(lambda r: r.document(SetId("web"), 1)) == b"1"
    assert await store.read(lambda r: r.document(SetId("web"), 3)) == b"3"
    with pytest.raises(ResourceNotFoundError):
        await store.read(lambda r: r.document(SetId("web"), 2))


async def test_a_document_can_be_written_again_under_its_number(store):
    await store.transact(lambda tx: tx.put_scale_set(a_scale_set(), b"first"))

    def rewrite(tx) -> None:
        tx.put_scale_set(tx.scale_set(SetId("web")), b"second")
        assert tx.document(SetId("web"), 1) == b"second"

    await store.transact(rewrite)

    assert await store.read(lambda r: r.document(SetId("web"), 1)) == b"second"


def keep(tx, numbers) -> None:
    tx.put_scale_set(tx.scale_set(SetId("web")))
    tx.keep_documents(SetId("web"), numbers)


async def test_a_forgotten_set_takes_its_documents_along(store):
    await store.transact(lambda tx: tx.put_scale_set(a_scale_set(), b"old"))
    await store.transact(lambda tx: tx.put_scale_set(a_scale_set("webs"), b"other"))

    await store.transact(lambda tx: tx.forget_scale_set(SetId("web")))

    with pytest.raises(ResourceNotFoundError):
        await store.read(lambda r: r.scale_set(SetId("web")))
    with pytest.raises(ResourceNotFoundError):
        await store.read(lambda r: r.document(SetId("web"), 1))
    assert await store.read(lambda r: r.document(SetId("webs"), 1)) == b"other"


async def test_a_set_that_came_and_went_in_one_transaction_leaves_nothing(store):
    def work(tx) -> None:
        tx.put_scale_set(a_scale_set(), b"{}")
        tx.forget_scale_set(SetId("web"))

    await store.transact(work)

    assert await store.read(lambda r: list(r.scale_sets())) == []
    with pytest.raises(ResourceNotFoundError):
        await store.read(lambda r: r.document(SetId("web"), 1))


# Operations


async def test_an_operation_comes_back_as_it_was_written(store):
    await store.transact(lambda tx: tx.put_operation(an_operation("a")))
    await store.transact(lambda tx: tx.put_operation(an_ended_operation("b")))

    assert await store.read(lambda r: r.operation("a")) == an_operation("a")
    assert await store.read(lambda r: r.operation("b")) == an_ended_operation("b")


async def test_an_operation_is_replaced_by_its_later_self(store):
    await store.transact(lambda tx: tx.put_operation(an_operation()))
    await store.transact(lambda tx: tx.put_operation(an_ended_operation()))

    assert (await store.read(lambda r: r.operation("o"))).status is OperationStatus.FAILED


async def test_an_unknown_operation_is_refused(store):
    with pytest.raises(ResourceNotFoundError):
        await store.read(lambda r: r.operation("nowhere"))


# Effects


async def claim(store, now=NOON, limit=10):
    return await store.transact(lambda tx: tx.claim_effects(now, now + LEASE, limit))


def a_step_with_effects(*keys: tuple[str, str]) -> Step:
    events = {key[0]: key for key in keys}
    scope = a_scope(
        machines=[a_machine(machine) for _, machine in keys],
        events=[an_event(*events[event], status=Status.STARTED) for event in events],
    )
    return created(scope, performs=tuple(a_perform(*key, duration_s=9) for key in keys))


async def test_a_recorded_effect_can_be_claimed_once(store):
    await store.transact(recorded(a_step_with_effects(("E", "web_0"))))

    (effect,) = await claim(store)

    assert effect.perform == a_perform("E", "web_0", duration_s=9)
    assert (effect.scope_id, effect.attempts) == ("scope", 0)
    assert await claim(store) == []


async def test_a_claim_that_was_never_reported_runs_out(store):
    await store.transact(recorded(a_step_with_effects(("E", "web_0"))))
    await claim(store)

    assert await claim(store, NOON + LEASE - SECOND) == []
    assert len(await claim(store, NOON + LEASE)) == 1


async def test_an_effect_that_is_given_back_waits_and_keeps_its_count(store):
    await store.transact(recorded(a_step_with_effects(("E", "web_0"))))
    (effect,) = await claim(store)
    again = replace(effect, attempts=3)

    await store.transact(lambda tx: tx.defer_effect(again, NOON + 5 * SECOND))

    assert await claim(store, NOON + 4 * SECOND) == []
    assert await claim(store, NOON + 5 * SECOND) == [again]


async def test_an_effect_can_be_forgotten(store):
    await store.transact(recorded(a_step_with_effects(("E", "web_0"))))
    (effect,) = await claim(store)

    await store.transact(lambda tx: tx.forget_effect(effect))

    assert await claim(store, NOON + 2 * LEASE) == []


async def test_an_effect_that_is_no_longer_wanted_is_not_given_back(store):
    await store.transact(recorded(a_step_with_effects(("E", "web_0"))))
    (effect,) = await claim(store)
    before = await store.transact(lambda tx: tx.scope(ScopeId("scope")))
    done = Step(
        before=before,
        scope=replace(before, events={}),
        dropped=((EventId("E"), MachineId("web_0")),),
    )
    await store.transact(recorded(done))

    await store.transact(lambda tx: tx.defer_effect(effect, NOON))

    assert await claim(store, NOON + DAY) == []
    assert await store.read(lambda r: r.next_due()) is None


async def test_an_effect_of_a_scope_that_went_is_refused(store):
    await store.transact(recorded(a_step_with_effects(("E", "web_0"))))
    (effect,) = await claim(store)
    await store.transact(lambda tx: tx.forget_scope(ScopeId("scope")))

    with pytest.raises(ScopeNotFoundError):
        await store.transact(lambda tx: tx.defer_effect(effect, NOON))


async def test_a_dropped_effect_is_never_claimed(store):
    step = a_step_with_effects(("A", "web_0"), ("B", "web_1"))
    await store.transact(recorded(step))
    before = await store.transact(lambda tx: tx.scope(ScopeId("scope")))
    dropped = ((EventId("A"), MachineId("web_0")),)
    await store.transact(recorded(Step(before=before, scope=before, dropped=dropped)))

    assert [effect.perform.event_id for effect in await claim(store)] == ["B"]


async def test_effects_are_claimed_most_overdue_first_and_not_beyond_the_limit(store):
    step = a_step_with_effects(("C", "web_0"), ("A", "web_1"), ("B", "web_2"))
    await store.transact(lambda tx: tx.record(step, NOON + MINUTE))
    early = a_scope("early", machines=[a_machine("m")], events=[an_event("Z", "m")])
    await store.transact(recorded(created(early, performs=(a_perform("Z", "m"),))))

    first = await claim(store, NOON + MINUTE, limit=3)
    rest = await claim(store, NOON + MINUTE, limit=3)

    assert [effect.perform.event_id for effect in first] == ["Z", "C", "A"]
    assert [effect.perform.event_id for effect in rest] == ["B"]


async def test_an_effect_decided_in_this_transaction_is_claimed_by_the_next(store):
    def work(tx):
        tx.record(a_step_with_effects(("E", "web_0")), NOON)
        return tx.claim_effects(NOON, NOON + LEASE, 10)

    assert await store.transact(work) == []
    assert len(await claim(store)) == 1


# Ended events


async def test_an_event_that_ended_stays_known_to_its_scope(store):
    scope = a_scope(machines=[a_machine()], events=[an_event("A"), an_event("B")])
    await store.transact(recorded(created(scope)))
    before = await store.transact(lambda tx: tx.scope(scope.id))
    over = replace(before.events["A"], status=Status.COMPLETED)
    ended = Step(
        before=before, scope=replace(before, events={"B": before.events["B"]}), ended=(over,)
    )

    def work(tx):
        tx.record(ended, NOON + MINUTE)
        return tx.ended(scope.id, [EventId("A"), EventId("B")])

    assert await store.transact(work) == {"A"}
    assert await store.read(lambda r: r.ended(scope.id, [EventId("A"), EventId("X")])) == {"A"}
    assert await store.read(lambda r: r.ended(ScopeId("other"), [EventId("A")])) == frozenset()
    (kept,) = await store.read(lambda r: r.ended_events(10))
    assert (kept.event, kept.scope_id, kept.ended_at) == (over, scope.id, NOON + MINUTE)
    assert kept.resources == ("web_0",)


async def test_an_ended_event_names_the_machines_it_had(store):
    scope = a_scope(machines=[a_machine()], events=[an_event("A")])
    await store.transact(recorded(created(scope)))
    before = await store.transact(lambda tx: tx.scope(scope.id))
    over = replace(before.events["A"], status=Status.COMPLETED, machines=(), remaining=())
    step = Step(before=before, scope=replace(before, events={}, machines={}), ended=(over,))

    await store.transact(recorded(step))

    (kept,) = await store.read(lambda r: r.ended_events(1))
    assert kept.resources == ("web_0",)


async def test_the_events_that_ended_last_come_first(store):
    scope = a_scope(machines=[a_machine()], events=[an_event(letter) for letter in "CAB"])
    await store.transact(recorded(created(scope)))
    for letter in "CAB":
        before = await store.transact(lambda tx: tx.scope(scope.id))
        left = {key: event for key, event in before.events.items() if key != letter}
        over = replace(before.events[letter], status=Status.CANCELLED)
        step = Step(before=before, scope=replace(before, events=left), ended=(over,))
        await store.transact(recorded(step))

    found = await store.read(lambda r: r.ended_events(2))
    assert [ended.event.id for ended in found] == ["B", "A"]
    found = await store.read(lambda r: r.ended_events(2, skip=1))
    assert [ended.event.id for ended in found] == ["A", "C"]
    assert list(await store.read(lambda r: r.ended_events(2, skip=3))) == []


async def test_an_ended_event_is_found_by_its_id_even_before_its_commit(store):
    scope = a_scope(machines=[a_machine()], events=[an_event("A"), an_event("B")])
    await store.transact(recorded(created(scope)))
    before = await store.transact(lambda tx: tx.scope(scope.id))
    over = replace(before.events["A"], status=Status.COMPLETED)
    left = {EventId("B"): before.events["B"]}

    def work(tx):
        tx.record(Step(before=before, scope=replace(before, events=left), ended=(over,)), NOON)
        return tx.ended_event(EventId("A"))

    # The second is decided on top of the first, and may be committed together with it.
    seen = await asyncio.gather(
        store.transact(work), store.transact(lambda tx: tx.ended_event(EventId("A")))
    )
    seen.append(await store.read(lambda r: r.ended_event(EventId("A"))))

    assert [(ended.event, ended.scope_id, ended.resources) for ended in seen] == [
        (over, scope.id, ("web_0",))
    ] * 3
    assert await store.read(lambda r: r.ended_event(EventId("B"))) is None


async def test_a_store_may_be_closed_twice(store):
    await store.transact(recorded(created(a_scope())))

    await store.close()
    await store.close()


# History


async def a_history(store) -> None:
    first = a_scope("one", machines=[a_machine("web_0")], set_id=SetId("web"))
    second = a_scope("two", machines=[a_machine("web_1")])
    notes = (
        a_note("1", event_id=EventId("E"), machine=MachineId("web_0"), by="web_9"),
        a_note("2", machine=MachineId("gone")),
        a_note("3"),
    )
    await store.transact(recorded(created(first, notes=notes)))
    await store.transact(
        recorded(created(second, notes=(a_note("4", machine=MachineId("web_1")),)))
    )


@pytest.mark.parametrize(
    ("wanted", "texts"),
    [
        (HistoryFilter(limit=10), "1234"),
        (HistoryFilter(limit=2), "34"),
        (HistoryFilter(limit=10, after=1), "234"),
        (HistoryFilter(limit=1, after=1), "4"),
        (HistoryFilter(limit=10, after=99), ""),
        (HistoryFilter(limit=0), ""),
        (HistoryFilter(limit=10, scope_id=ScopeId("one")), "123"),
        (HistoryFilter(limit=10, event_id=EventId("E")), "1"),
        (HistoryFilter(limit=10, machine=MachineId("web_1")), "4"),
        (HistoryFilter(limit=10, machine=MachineId("web_0"), after=1), ""),
        (HistoryFilter(limit=10, event_id=EventId("E"), scope_id=ScopeId("two")), ""),
        (HistoryFilter(limit=10, event_id=EventId("E"), machine=MachineId("web_1")), ""),
        (HistoryFilter(limit=10, machine=MachineId("web_1"), scope_id=ScopeId("one")), ""),
        (HistoryFilter(limit=10, machine=MachineId("web_1"), scope_id=ScopeId("two")), "4"),
    ],
)
async def test_history_is_filtered_and_told_oldest_first(store, wanted, texts):
    await a_history(store)

    found = await store.read(lambda r: r.history(wanted))

    assert "".join(line.text for line in found) == texts


async def test_a_line_of_history_says_everything_it_knows(store):
    await a_history(store)

    line, unnamed, bare, _ = await store.read(lambda r: r.history(HistoryFilter(limit=10)))

    assert (line.at, line.what, line.scope_id, line.set_id) == (NOON, "note", "one", "web")
    assert (line.event_id, line.machine, line.name, line.by) == ("E", "web_0", "web_0", "web_9")
    assert (unnamed.machine, unnamed.name) == ("gone", "")
    assert (bare.machine, bare.event_id) == (None, None)


async def test_history_is_numbered_upwards_and_observers_get_the_numbers(store):
    told: list[Commit] = []
    store.observe(told.append)

    await a_history(store)

    found = await store.read(lambda r: r.history(HistoryFilter(limit=10)))
    assert [line.seq for line in found] == [1, 2, 3, 4]
    assert [line for commit in told for line in commit.history] == list(found)


# Small things


async def test_what_is_remembered_is_recalled(store):
    def work(tx):
        tx.remember("k", "1")
        tx.remember("k", "2")
        return tx.recall("k")

    assert await store.transact(work) == "2"
    assert await store.read(lambda r: r.recall("k")) == "2"
    assert await store.read(lambda r: r.recall("other")) is None


async def test_ordinals_are_never_drawn_twice(store):
    def work(tx):
        return [*tx.take_ordinals(2), *tx.take_ordinals(1)]

    first = await store.transact(work)
    second = await store.transact(work)
    assert first + second == [1, 2, 3, 4, 5, 6]


async def test_ordinals_of_a_failed_transaction_do_no_harm(store):
    def fail(tx):
        tx.take_ordinals(5)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await store.transact(fail)

    assert [*await store.transact(lambda tx: tx.take_ordinals(1))] == [1]


# What is due


async def test_scopes_are_due_most_overdue_first(store):
    for minutes, name in ((3, "late"), (1, "early"), (2, "middle"), (9, "future")):
        event = an_event(name, "m" + name, not_before=NOON + minutes * MINUTE)
        scope = a_scope(name, machines=[a_machine("m" + name)], events=[event])
        await store.transact(recorded(created(scope)))

    due = await store.transact(lambda tx: tx.due_scopes(NOON + 3 * MINUTE, 10))
    assert due == ["early", "middle", "late"]
    assert await store.transact(lambda tx: tx.due_scopes(NOON + DAY, 2)) == ["early", "middle"]
    assert await store.transact(lambda tx: tx.due_scopes(NOON, 10)) == []


async def test_a_scope_nobody_waits_for_is_not_due(store):
    events = [an_event(status=Status.STARTED, started_at=NOON)]
    await store.transact(recorded(created(a_scope(machines=[a_machine()], events=events))))

    assert await store.transact(lambda tx: tx.due_scopes(NOON + 100 * DAY, 10)) == []


async def test_a_watched_scope_is_due_when_the_watching_ends(store):
    await store.transact(recorded(created(a_scope(watched_at=NOON))))

    assert await store.read(lambda r: r.next_due()) == NOON + IDLE_AFTER


async def test_a_scope_that_went_in_this_transaction_is_not_due(store):
    await store.transact(recorded(created(a_scope(watched_at=NOON))))

    def work(tx):
        tx.forget_scope(ScopeId("scope"))
        return tx.due_scopes(NOON + DAY, 10)

    assert await store.transact(work) == []


async def test_sets_are_due_most_overdue_first(store):
    def work(tx):
        tx.put_scale_set(a_scale_set("b", due_at=NOON + MINUTE))
        tx.put_scale_set(a_scale_set("a", due_at=NOON + 2 * MINUTE))
        tx.put_scale_set(a_scale_set("c", due_at=NOON + DAY))
        tx.put_scale_set(a_scale_set("never"))

    await store.transact(work)

    now = NOON + 2 * MINUTE
    assert await store.transact(lambda tx: tx.due_scale_sets(now, 10)) == ["b", "a"]
    assert await store.transact(lambda tx: tx.due_scale_sets(now, 1)) == ["b"]


async def test_next_due_is_the_earliest_of_scopes_sets_and_effects(store):
    assert await store.read(lambda r: r.next_due()) is None

    await store.transact(lambda tx: tx.put_scale_set(a_scale_set(due_at=NOON + 3 * MINUTE)))
    assert await store.read(lambda r: r.next_due()) == NOON + 3 * MINUTE

    event = an_event(not_before=NOON + 2 * MINUTE)
    await store.transact(recorded(created(a_scope(machines=[a_machine()], events=[event]))))
    assert await store.read(lambda r: r.next_due()) == NOON + 2 * MINUTE

    performs = (a_perform("E", "web_0"),)
    other = a_scope("other", machines=[a_machine("x")])
    await store.transact(lambda tx: tx.record(created(other, performs=performs), NOON + MINUTE))
    assert await store.read(lambda r: r.next_due()) == NOON + MINUTE


# Transactions


async def test_a_failed_transaction_leaves_no_trace(store):
    told: list[Commit] = []
    store.observe(told.append)

    def fail(tx):
        tx.record(
            created(
                a_scope(machines=[a_machine()], events=[an_event()], watched_at=NOON),
                performs=(a_perform(),),
                notes=(a_note(),),
                ended=(),
            ),
            NOON,
        )
        tx.put_scale_set(a_scale_set(due_at=NOON), b"{}")
        tx.put_operation(an_operation())
        tx.remember("k", "v")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await store.transact(fail)

    assert await store.read(lambda r: tuple(r.scopes())) == ()
    assert await store.read(lambda r: list(r.scale_sets())) == []
    assert await store.read(lambda r: list(r.history(HistoryFilter(limit=9)))) == []
    assert await store.read(lambda r: r.next_due()) is None
    assert await store.read(lambda r: r.recall("k")) is None
    with pytest.raises(ResourceNotFoundError):
        await store.read(lambda r: r.operation("o"))
    assert told == []


async def test_transactions_asked_for_together_see_one_another(store):
    def append(tx):
        seen = tx.recall("k") or ""
        tx.remember("k", seen + "x")
        return len(seen)

    seen = await asyncio.gather(*(store.transact(append) for _ in range(40)))

    assert seen == list(range(40))
    assert await store.read(lambda r: r.recall("k")) == "x" * 40


async def test_transactions_asked_for_together_see_everything_of_one_another(store):
    scope = a_scope(machines=[a_machine()], events=[an_event()])
    over = replace(an_event(), status=Status.COMPLETED)

    def create(tx):
        tx.record(created(scope, performs=(a_perform(),)), NOON)
        tx.put_scale_set(a_scale_set(due_at=NOON), b"{}")
        tx.put_operation(an_operation())
        return tx.take_ordinals(1)[0]

    def change(tx):
        before = tx.scope(scope.id)
        ended = Step(before=before, scope=replace(before, events={}), ended=(over,))
        tx.record(ended, NOON)
        tx.put_operation(replace(tx.operation("o"), remaining=1))
        return tx.take_ordinals(1)[0], tx.document(SetId("web"), 1), len(tx.scale_sets())

    def remove(tx):
        gone = tx.ended(scope.id, [EventId("E")])
        found = tx.scope(scope.id), tx.scale_set(SetId("web"))
        tx.forget_scope(scope.id)
        tx.forget_scale_set(SetId("web"))
        return gone, found[0].version

    def look(tx):
        with pytest.raises(ResourceNotFoundError):
            tx.scale_set(SetId("web"))
        with pytest.raises(ScopeNotFoundError):
            tx.scope(scope.id)
        due = tx.due_scopes(NOON + DAY, 9), tx.due_scale_sets(NOON + DAY, 9)
        return due, list(tx.scale_sets()), tx.operation("o").remaining

    works = (create, change, remove, look)
    results = await asyncio.gather(*(store.transact(work) for work in works))

    assert results == [1, (2, b"{}", 1), ({"E"}, 2), (([], []), [], 1)]
    assert await store.read(lambda r: tuple(r.scopes())) == ()


async def test_a_failure_among_transactions_asked_for_together_harms_no_other(store):
    def fail(tx):
        tx.remember("k", "bad")
        raise ZeroDivisionError

    results = await asyncio.gather(
        store.transact(lambda tx: tx.remember("a", "1")),
        store.transact(fail),
        store.transact(lambda tx: tx.remember("b", tx.recall("k") or "none")),
        return_exceptions=True,
    )

    assert [type(result) for result in results] == [type(None), ZeroDivisionError, type(None)]
    assert await store.read(lambda r: (r.recall("a"), r.recall("b"))) == ("1", "none")


async def test_observers_are_told_in_order_before_the_caller_goes_on(store):
    told: list[tuple[int, ...]] = []
    store.observe(lambda commit: told.append(tuple(scope.incarnation for scope in commit.scopes)))
    await store.transact(recorded(created(a_scope())))

    def raise_incarnation(tx):
        before = tx.scope(ScopeId("scope"))
        after = replace(before, incarnation=before.incarnation + 1)
        tx.record(Step(before=before, scope=after), NOON)
        return after.incarnation

    async def observed():
        incarnation = await store.transact(raise_incarnation)
        return incarnation, max(seen for commit in told for seen in commit)

    results = await asyncio.gather(*(observed() for _ in range(30)))

    assert all(seen >= own for own, seen in results)
    flat = [seen for commit in told for seen in commit]
    assert flat == sorted(flat)
    assert flat[-1] == 31


async def test_observers_learn_what_changed_what_went_and_what_is_next(store):
    told: list[Commit] = []
    store.observe(told.append)

    await store.transact(recorded(created(a_scope(watched_at=NOON))))
    await store.transact(lambda tx: tx.forget_scope(ScopeId("scope")))

    assert [scope.id for scope in told[0].scopes] == ["scope"]
    assert (told[0].forgotten, told[0].next_due) == ((), NOON + IDLE_AFTER)
    assert (told[1].scopes, told[1].forgotten, told[1].next_due) == ((), ("scope",), None)


async def test_every_observer_is_told(store):
    told: list[str] = []
    store.observe(lambda commit: told.append("a"))
    store.observe(lambda commit: told.append("b"))

    await store.transact(lambda tx: tx.remember("k", "v"))

    assert told == ["a", "b"]


async def test_a_transaction_that_only_reads_tells_nobody(store):
    told: list[Commit] = []
    store.observe(told.append)

    assert await store.transact(lambda tx: tx.recall("k")) is None
    assert told == []


async def test_a_read_sees_committed_state_only(store):
    await store.transact(lambda tx: tx.remember("k", "1"))

    assert await store.read(lambda r: r.recall("k")) == "1"
    results = await asyncio.gather(
        *(store.transact(lambda tx, n=n: both(tx, n)) for n in range(20)),
        *(store.read(lambda r: (r.recall("x"), r.recall("y"))) for _ in range(20)),
    )
    assert all(x == y for x, y in results[20:])


def both(tx, number: int) -> None:
    tx.remember("x", str(number))
    tx.remember("y", str(number))


async def test_a_read_that_fails_says_so_and_the_next_one_works(store):
    def fail(_reader):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await store.read(fail)
    assert await store.read(lambda r: r.recall("k")) is None


# Pruning


async def test_what_is_older_than_its_keep_is_forgotten(store):
    scope = a_scope(machines=[a_machine()], events=[an_event("A")])
    await store.transact(recorded(created(scope, notes=(a_note(),))))
    before = await store.transact(lambda tx: tx.scope(scope.id))
    over = replace(before.events["A"], status=Status.COMPLETED)
    ended = Step(before=before, scope=replace(before, events={}), ended=(over,))
    await store.transact(recorded(ended))
    await store.transact(lambda tx: tx.put_operation(an_ended_operation("over", ended_at=NOON)))
    await store.transact(lambda tx: tx.put_operation(an_operation("open")))

    soon = NOON + min(FINISHED_KEPT, OPERATIONS_KEPT) - SECOND
    await store.transact(lambda tx: tx.prune(soon))
    assert await store.read(lambda r: r.ended(scope.id, [EventId("A")])) == {"A"}
    assert (await store.read(lambda r: r.operation("over"))).is_over

    late = NOON + max(FINISHED_KEPT, OPERATIONS_KEPT)
    await store.transact(lambda tx: tx.prune(late))
    assert await store.read(lambda r: r.ended(scope.id, [EventId("A")])) == frozenset()
    with pytest.raises(ResourceNotFoundError):
        await store.read(lambda r: r.operation("over"))
    assert not (await store.read(lambda r: r.operation("open"))).is_over
    assert len(await store.read(lambda r: r.history(HistoryFilter(limit=9)))) == 1


async def test_history_is_bounded_and_its_numbers_go_on(store):
    notes = tuple(a_note(str(number)) for number in range(HISTORY_ROWS_MAX + 5))
    await store.transact(recorded(created(a_scope(), notes=notes)))

    await store.transact(lambda tx: tx.prune(NOON))
    await store.transact(recorded(created(a_scope("other"), notes=(a_note("next"),))))

    found = await store.read(lambda r: r.history(HistoryFilter(limit=HISTORY_ROWS_MAX + 9)))
    assert (found[0].seq, found[-1].seq) == (6, HISTORY_ROWS_MAX + 6)
