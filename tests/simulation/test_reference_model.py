"""The engine against a second opinion: the rules once more, naively, over plain dictionaries.

`Reference` calls nothing of the engine's. After every fact both must agree on the document, the
orders to the driver, the operations that end, and on who is still there.
"""

from collections import Counter
from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from lastcall.engine.document import document
from lastcall.engine.errors import DomainError
from lastcall.engine.facts import (
    ActionDone,
    ActionFailed,
    Announced,
    Approved,
    MachinesAdded,
    Requested,
    TimePassed,
    Watched,
    Withdrawn,
)
from lastcall.engine.model import Action, EventType, Machine, Model, Scope, ScopeKind
from lastcall.engine.policy import Policy
from lastcall.engine.step import due_at, step

pytestmark = pytest.mark.simulation

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
DAY = timedelta(hours=24)
NOTICES = {
    "Freeze": 15 * MINUTE,
    "Reboot": 15 * MINUTE,
    "Redeploy": 10 * MINUTE,
    "Preempt": 0.5 * MINUTE,
}
ORDER_OF = {"Freeze": "freeze", "Reboot": "restart", "Redeploy": "redeploy"}
TYPE_OF = {"restart": "Reboot", "redeploy": "Redeploy"}
NEEDS_HOST = ("restart", "redeploy", "powerOff")
POWER_AFTER = {
    "create": "running",
    "start": "running",
    "restart": "running",
    "redeploy": "running",
    "powerOff": "stopped",
    "deallocate": "deallocated",
}
MACHINES_MAX = 5
ROUNDS_MAX = 200

NOTICE = st.sampled_from([5 * MINUTE, 5 * MINUTE, 9 * MINUTE, None])
EVICTION = st.sampled_from([None, None, "deallocate", "delete"])


class RefusedError(Exception):
    """The rules do not allow it."""


class Reference:
    """What the rules say, without any thought of speed or beauty."""

    def __init__(self, always_notify: bool) -> None:
        self.always_notify = always_notify
        self.now = NOON
        self.machines: dict[str, dict] = {}
        self.events: dict[str, dict] = {}
        self.gone: set[str] = set()
        self.watched_at: datetime | None = None
        self.incarnation = 1
        self.orders: dict[tuple[str, str], str] = {}  # with the driver, not yet reported
        self.new_orders: list[tuple[str, str, str]] = []
        self.ended_parts: list[tuple[str, bool]] = []

    def visible(self) -> list[tuple]:
        return [
            (
                key,
                e["type"],
                e["started"],
                tuple(e["machines"]),
                None if e["started"] else e["not_before"],
            )
            for key, e in self.events.items()
            if e["type"]
        ]

    def is_watched(self) -> bool:
        recently = self.watched_at is not None and self.now - self.watched_at < DAY
        return self.always_notify or recently

    # What happens.

    def add(self, key, name, notice, eviction, operation):
        self.machines[name] = {
            "notice": notice,
            "eviction": eviction,
            "leaving": False,
            "power": "running",
        }
        self._begin(key, None, "create", [name], by_user=True, started=True, operation=operation)

    def delete(self, keys, names, force, operation):
        for key, name in zip(keys, names, strict=True):
            machine = self.machines[name]
            certain = [
                e
                for e in self.events.values()
                if e["action"] == "delete"
                and name in e["machines"]
                and (e["started"] or e["by_user"])
            ]
            if certain:
                certain[0]["operations"].append(operation)
                if force and not certain[0]["started"]:
                    certain[0]["forced"] = True
            else:
                held = machine["notice"] and self.is_watched() and not force
                self._begin(
                    key,
                    "Terminate" if held else None,
                    "delete",
                    [name],
                    by_user=True,
                    started=not held,
                    notice=machine["notice"] if held else None,
                    operation=operation,
                )
            machine["leaving"] = True
        self._start_what_may()

    def act(self, keys, action, names, auto_approve, operation):
        for name in names:
            if self.machines[name]["leaving"]:
                raise RefusedError
            if action in NEEDS_HOST and self.machines[name]["power"] == "deallocated":
                raise RefusedError
        for key, name in zip(keys, names, strict=True):
            told = TYPE_OF.get(action) if self.is_watched() else None
            waiting = [
                e
                for e in self.events.values()
                if told
                and e["type"] == told
                and e["by_user"]
                and not e["started"]
                and name in e["machines"]
            ]
            if waiting:
                waiting[0]["operations"].append(operation)
                continue
            self._begin(
                key,
                told,
                action,
                [name],
                by_user=True,
                started=not told or auto_approve,
                notice=NOTICES[told] if told else None,
                operation=operation,
            )

    def announce(self, key, event_type, names, notice, started):
        action = ORDER_OF.get(event_type) or self.machines[names[0]]["eviction"]
        evicted = event_type == "Preempt" and any(
            event["type"] == "Preempt" and names[0] in event["machines"]
            for event in self.events.values()
        )
        hostless = any(self.machines[name]["power"] == "deallocated" for name in names)
        if action is None or evicted or hostless:
            raise RefusedError
        notice = notice or NOTICES[event_type]
        self._begin(key, event_type, action, names, by_user=False, started=started, notice=notice)

    def approve(self, keys):
        for key in keys:
            known = key in self.events and self.events[key]["type"]
            if not known and key not in self.gone:
                raise RefusedError
        for key in keys:
            if key in self.events:
                self.events[key]["approved"] = True
        self._start_what_may()

    def withdraw(self, key):
        event = self.events.get(key)
        if event is None or event["type"] is None or event["by_user"] or event["started"]:
            raise RefusedError
        self._end(key)

    def pass_time(self, duration):
        self.now += duration
        for key, event in self.events.items():
            if not event["started"] and event["not_before"] <= self.now:
                self._start(key)
        self._start_what_may()
        if self.watched_at is not None and self.now - self.watched_at >= DAY:
            self.watched_at = None

    def watch(self):
        if self.watched_at is None or self.now - self.watched_at >= DAY:
            self.incarnation = 1
        self.watched_at = self.now

    def report(self, key, name, failed):
        action = self.orders.pop((key, name), None)
        if action is None:
            return
        event = self.events[key]
        event["todo"].remove(name)
        self.ended_parts += [(operation, failed) for operation in event["operations"]]
        if not event["todo"]:
            self._end(key)
        if action == "delete":
            del self.machines[name]
            for other in list(self.events):
                self._forget(other, name)
        elif not failed and action in POWER_AFTER:
            machine = self.machines[name]
            if not (machine["power"] == "deallocated" and action in NEEDS_HOST):
                machine["power"] = POWER_AFTER[action]

    # What follows.

    def _begin(self, key, event_type, action, names, *, by_user, started, **more):
        operation = more.get("operation")
        self.events[key] = {
            "type": event_type,
            "action": action,
            "machines": list(names),
            "todo": list(names),
            "by_user": by_user,
            "started": False,
            "approved": False,
            "forced": False,
            "not_before": self.now + (more.get("notice") or timedelta(0)),
            "operations": [operation] if operation else [],
        }
        if started:
            self._start(key)

    def _start(self, key):
        event = self.events[key]
        event["started"] = True
        for name in event["todo"]:
            self.orders[key, name] = event["action"]
            self.new_orders.append((key, name, event["action"]))
            if event["action"] == "delete":
                self.machines[name]["leaving"] = True

    def _start_what_may(self):
        waiting = {key: e for key, e in self.events.items() if not e["started"]}
        for key, event in waiting.items():
            if event["forced"]:
                self._start(key)
        for key, event in waiting.items():
            undecided = any(
                e["type"] == "Terminate" and not e["started"] and not e["approved"]
                for e in self.events.values()
            )
            held = event["type"] == "Terminate" and undecided
            if event["approved"] and not event["started"] and not held:
                self._start(key)

    def _forget(self, key, name):
        event = self.events[key]
        if name not in event["machines"]:
            return
        event["machines"].remove(name)
        if name in event["todo"]:
            event["todo"].remove(name)
            self.orders.pop((key, name), None)
            failed = event["action"] != "delete"
            self.ended_parts += [(operation, failed) for operation in event["operations"]]
        if not event["machines"] or (event["started"] and not event["todo"]):
            self._end(key)

    def _end(self, key):
        if self.events.pop(key)["type"]:
            self.gone.add(key)


class EngineAgainstReference(RuleBasedStateMachine):
    """Every rule tells the same fact to both."""

    @initialize(
        always_notify=st.booleans(),
        is_watched=st.sampled_from([True, True, True, False]),
        machines=st.lists(st.tuples(NOTICE, EVICTION), min_size=1, max_size=3),
    )
    def begin(self, always_notify, is_watched, machines):
        self.reference = Reference(always_notify)
        self.policy = Policy(always_notify=always_notify)
        self.scope = Scope(
            id="scope", kind=ScopeKind.PLACEMENT_GROUP, machines={}, events={}, set_id=None
        )
        self.drawn = 0
        self.parts: Counter[str] = Counter()  # machines that each operation asked for
        self.ended: Counter[str] = Counter()
        self.performed: Counter[tuple[str, str]] = Counter()
        self.dropped: Counter[tuple[str, str]] = Counter()
        self.approved: set[str] = set()
        self.is_sound = True
        for notice, eviction in machines:
            self.tell_addition(notice, eviction)
        if is_watched:
            self.watch()

    def new(self, kind: str, count: int = 1) -> tuple[str, ...]:
        self.drawn += count
        return tuple(f"{kind}{n}" for n in range(self.drawn - count, self.drawn))

    def both(self, fact, tell, **parts):
        """Tell both; they must agree, on a refusal too."""
        self.is_sound = False
        rules = self.reference
        seen, incarnation = rules.visible(), rules.incarnation
        before = msgspec.json.encode(self.scope)
        try:
            tell(rules)
        except RefusedError:
            with pytest.raises(DomainError):
                step(self.scope, fact, rules.now, self.policy)
            assert msgspec.json.encode(self.scope) == before
            self.is_sound = True
            return
        decision = step(self.scope, fact, rules.now, self.policy)
        assert msgspec.json.encode(self.scope) == before, "the scope before is a value"
        if rules.incarnation == incarnation and rules.visible() != seen:
            rules.incarnation += 1
        self.scope = decision.scope
        self.parts.update(parts)
        if isinstance(fact, Approved):
            self.approved.update(fact.event_ids)
        self.keeps_its_word(fact, decision)
        self.agree_on(decision)
        self.is_sound = True

    def keeps_its_word(self, fact, decision):
        """Nothing is deleted within its notice unless all said yes, or somebody used force."""
        now = self.reference.now
        forced = fact.machines if isinstance(fact, Requested) and fact.force else ()
        terminates = [
            e
            for e in decision.before.events.values()
            if e.type == "Terminate" and not set(e.machines) & set(forced)
        ]
        undecided = {
            e.id
            for e in terminates
            if e.is_pending and e.not_before > now and e.id not in self.approved
        }
        starts = {p.event_id for p in decision.performs}
        for event in terminates:
            if event.id in starts and event.not_before > now:
                assert not undecided, "an approval was not waited for"

    def agree_on(self, decision):
        rules = self.reference
        assert Counter((p.event_id, p.machine, p.action) for p in decision.performs) == Counter(
            rules.new_orders
        )
        rules.new_orders.clear()
        ended = Counter((f.operation, f.failure is not None) for f in decision.finished)
        assert ended == Counter(rules.ended_parts)
        rules.ended_parts.clear()
        self.performed.update((p.event_id, p.machine) for p in decision.performs)
        self.dropped.update(decision.dropped)
        self.ended.update(f.operation for f in decision.finished)

    # The facts.

    @precondition(lambda self: len(self.scope.machines) < MACHINES_MAX)
    @rule(notice=NOTICE, eviction=EVICTION)
    def add_a_machine(self, notice, eviction):
        self.tell_addition(notice, eviction)

    def tell_addition(self, notice, eviction):
        (name,), (key,), (operation,) = self.new("vm"), self.new("E"), self.new("op")
        machine = Machine(
            id=name,
            name=f"{name} by name",
            ordinal=self.drawn,
            created_at=self.reference.now,
            model=Model(notice=notice, eviction=eviction and Action(eviction)),
        )
        self.both(
            MachinesAdded(machines=(machine,), event_ids=(key,), operation=operation),
            lambda r: r.add(key, name, notice, eviction, operation),
            **{operation: 1},
        )

    @precondition(lambda self: self.scope.machines)
    @rule(data=st.data(), force=st.sampled_from([False, False, False, True]))
    def delete(self, data, force):
        self.tell_deletion(self.some_machines(data), force)

    @precondition(lambda self: len(self.scope.machines) > 1)
    @rule()
    def delete_all(self):
        self.tell_deletion(tuple(self.scope.machines), force=False)

    def tell_deletion(self, names, force):
        keys, (operation,) = self.new("E", len(names)), self.new("op")
        fact = Requested(
            action=Action.DELETE,
            machines=names,
            event_ids=keys,
            operation=operation,
            force=force,
        )
        tell = lambda r: r.delete(keys, names, force, operation)  # noqa: E731
        self.both(fact, tell, **{operation: len(names)})

    @precondition(lambda self: self.scope.machines)
    @rule(
        data=st.data(),
        action=st.sampled_from(
            ["restart", "redeploy", "update", "start", "powerOff", "deallocate"]
        ),
        auto_approve=st.booleans(),
    )
    def ask_for_something_else(self, data, action, auto_approve):
        names = self.some_machines(data)
        keys, (operation,) = self.new("E", len(names)), self.new("op")
        fact = Requested(
            action=Action(action),
            machines=names,
            event_ids=keys,
            operation=operation,
            auto_approve=auto_approve,
        )
        tell = lambda r: r.act(keys, action, names, auto_approve, operation)  # noqa: E731
        self.both(fact, tell, **{operation: len(names)})

    @precondition(lambda self: self.scope.machines)
    @rule(
        data=st.data(),
        event_type=st.sampled_from(list(NOTICES)),
        notice=st.sampled_from([None, None, 7 * DAY, MINUTE]),
        started=st.sampled_from([False, False, True]),
    )
    def announce(self, data, event_type, notice, started):
        names = self.some_machines(data)
        names = names[:1] if event_type == "Preempt" else names
        (key,) = self.new("E")
        fact = Announced(
            event_id=key,
            type=EventType(event_type),
            machines=names,
            notice=notice,
            has_started=started,
        )
        self.both(fact, lambda r: r.announce(key, event_type, names, notice, started))

    @precondition(lambda self: self.scope.events or self.reference.gone)
    @rule(data=st.data())
    def approve(self, data):
        keys = self.some_events(data)
        fact = Approved(event_ids=keys, by="somebody", finished=frozenset(self.reference.gone))
        self.both(fact, lambda r: r.approve(keys))

    @precondition(lambda self: any(e.is_pending for e in self.scope.events.values()))
    @rule(all_of_them=st.booleans())
    def approve_what_waits(self, all_of_them):
        pending = tuple(e.id for e in self.scope.events.values() if e.is_pending)
        keys = pending if all_of_them else pending[-1:]
        self.both(Approved(event_ids=keys, by="somebody"), lambda r: r.approve(keys))

    @precondition(lambda self: self.scope.events or self.reference.gone)
    @rule(data=st.data())
    def withdraw(self, data):
        (key, *_) = self.some_events(data)
        self.both(Withdrawn(event_id=key), lambda r: r.withdraw(key))

    @rule(seconds=st.sampled_from([1, 29, 60, 60, 240, 300, 600, 86_400]))
    def let_time_pass(self, seconds):
        self.pass_time(timedelta(seconds=seconds))

    @rule(seconds=st.sampled_from([1, 60, 60, 600, 86_400]))
    def let_time_pass_while_the_timer_is_late(self, seconds):
        self.reference.now += timedelta(seconds=seconds)

    @precondition(lambda self: due_at(self.scope) is not None)
    @rule(early=st.booleans())
    def wait_for_the_next_deadline(self, early):
        left = due_at(self.scope) - self.reference.now
        self.pass_time(left - timedelta(seconds=1) if early else left)

    @rule()
    def watch(self):
        self.both(Watched(at=self.reference.now), lambda r: r.watch())

    @precondition(lambda self: self.performed)
    @rule(data=st.data(), fails=st.booleans())
    def report(self, data, fails):
        """Report on any order there ever was: drivers repeat themselves."""
        orders = self.reference.orders
        key, name = data.draw(st.sampled_from(sorted(orders) or sorted(self.performed)))
        self.tell_report(key, name, fails and orders.get((key, name)) != "delete")

    @precondition(lambda self: self.performed)
    @rule(data=st.data())
    def report_again(self, data):
        key, name = data.draw(st.sampled_from(sorted(self.performed)))
        if (key, name) not in self.reference.orders:
            self.tell_report(key, name, fails=False)

    def pass_time(self, duration):
        self.both(TimePassed(), lambda r: r.pass_time(max(duration, timedelta(0))))

    def tell_report(self, key, name, fails):
        done = ActionDone(event_id=key, machine=name)
        failed = ActionFailed(event_id=key, machine=name, reason="no luck")
        self.both(failed if fails else done, lambda r: r.report(key, name, fails))

    def some_machines(self, data) -> tuple[str, ...]:
        names = st.sampled_from(sorted(self.scope.machines))
        return tuple(data.draw(st.lists(names, min_size=1, max_size=3, unique=True)))

    def some_events(self, data) -> tuple[str, ...]:
        keys = sorted({*self.scope.events, *self.reference.gone})
        chosen = st.sampled_from([*keys, "unknown"] if len(keys) > 1 else keys)
        return tuple(data.draw(st.lists(chosen, min_size=1, max_size=3)))

    # What must always hold.

    @invariant()
    def the_document_is_what_the_rules_say(self):
        shown = document(self.scope)
        names = {f"{key} by name": key for key in self.reference.machines}
        assert [
            (e.id, e.type, e.has_started, tuple(names[r] for r in e.resources), e.not_before)
            for e in shown.events
        ] == self.reference.visible()
        assert shown.incarnation == self.reference.incarnation

    @invariant()
    def the_members_are_who_the_rules_say(self):
        told = {
            key: (machine.is_leaving, machine.power.value)
            for key, machine in self.scope.machines.items()
        }
        assert told == {
            key: (machine["leaving"], machine["power"])
            for key, machine in self.reference.machines.items()
        }

    @invariant()
    def events_name_only_members(self):
        for event in self.scope.events.values():
            assert event.machines
            assert set(event.machines) <= set(self.scope.machines)
            assert set(event.remaining) <= set(event.machines)

    @invariant()
    def every_order_is_given_once_and_taken_back_once(self):
        assert set(self.performed.values()) <= {1}
        assert set(self.dropped.values()) <= {1}
        assert set(self.performed) - set(self.dropped) == set(self.reference.orders)

    @invariant()
    def no_operation_ends_more_often_than_it_has_machines(self):
        assert all(count <= self.parts[operation] for operation, count in self.ended.items())

    def teardown(self):
        """Liveness: once the driver keeps up and time passes, everything comes to an end."""
        if not getattr(self, "is_sound", False):
            return
        for _ in range(ROUNDS_MAX):
            if not self.scope.events:
                break
            for key, name in sorted(self.reference.orders):
                self.tell_report(key, name, fails=False)
            due = due_at(self.scope)
            if due is not None:
                self.pass_time(due - self.reference.now)
        assert self.scope.events == {}
        assert self.ended == self.parts
        assert self.performed == self.dropped
        assert document(self.scope).events == ()


TestEngineAgainstReference = EngineAgainstReference.TestCase
TestEngineAgainstReference.settings = settings(
    max_examples=150,
    stateful_step_count=40,
    deadline=None,
    database=None,
    # A failure is told at once; to have it made smaller, which takes minutes, add Phase.shrink.
    phases=(Phase.explicit, Phase.generate),
)
