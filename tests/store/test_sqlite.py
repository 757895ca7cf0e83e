"""What SQLite adds to the contract: it survives, it groups, and it says when it cannot write."""

import asyncio
import sqlite3

import pytest
from msgspec.structs import replace

from lastcall.engine.effects import Step
from lastcall.engine.model import Scope, ScopeId, ScopeKind, SetId
from lastcall.engine.operations import Operation, OperationId
from lastcall.engine.scale_sets import ScaleSet, Traits
from lastcall.ports import Commit, HistoryFilter, StoreUnavailableError
from lastcall.store.queries import migrations
from lastcall.store.rows import encode
from lastcall.store.sqlite import GROUP_MAX, SqliteStore, StoreVersionError
from lastcall.store.sqlite_shelf import SCOPES_CACHED_MAX

from .builders import LEASE, NOON, SECOND, a_scope, a_step, an_event, created


@pytest.fixture
def path(tmp_path):
    return tmp_path / "lastcall.db"


@pytest.fixture
async def store(path):
    opened = SqliteStore(path)
    yield opened
    await opened.close()


def a_scale_set() -> ScaleSet:
    return ScaleSet(
        id=SetId("web"),
        subscription="s",
        resource_group="rg",
        name="web",
        unique_id="u",
        created_at=NOON,
        location="westus",
        traits=Traits(),
        due_at=NOON,
    )


def everything(tx) -> None:
    tx.record(a_step(), NOON)
    tx.put_scale_set(a_scale_set(), b'{"sku":{}}')
    tx.put_operation(
        Operation(
            id=OperationId("o"), name="write", location="westus", started_at=NOON, remaining=1
        )
    )
    tx.take_ordinals(3)
    tx.remember("k", "v")


async def test_reopening_finds_everything(path):
    first = SqliteStore(path)
    await first.transact(everything)
    before = await first.read(snapshot)
    await first.close()

    second = SqliteStore(path)
    assert await second.read(snapshot) == before
    assert [*await second.transact(lambda tx: tx.take_ordinals(1))] == [4]
    await second.close()


def snapshot(reader):
    return (
        tuple(reader.scopes()),
        tuple(reader.scale_sets()),
        reader.document(SetId("web"), 1),
        reader.operation(OperationId("o")),
        tuple(reader.history(HistoryFilter(limit=9))),
        reader.recall("k"),
    )


async def test_history_goes_on_with_its_numbers_after_reopening(path):
    for _ in range(2):
        store = SqliteStore(path)
        await store.transact(note_again)
        await store.close()

    store = SqliteStore(path)
    found = await store.read(lambda r: r.history(HistoryFilter(limit=9)))
    await store.close()
    assert [line.seq for line in found] == [1, 2]


def note_again(tx) -> None:
    known = {scope.id: scope for scope in tx.scopes()}
    step = a_step()
    before = known.get(step.scope.id)
    tx.record(Step(before=before, scope=before or step.scope, notes=step.notes), NOON)


async def test_a_claim_of_a_dead_process_is_released(path):
    first = SqliteStore(path)
    await first.transact(lambda tx: tx.record(a_step(), NOON))
    claimed = await first.transact(lambda tx: tx.claim_effects(NOON, NOON + LEASE, 9))
    await first.close()

    second = SqliteStore(path)
    again = await second.transact(lambda tx: tx.claim_effects(NOON, NOON + LEASE, 9))
    await second.close()
    assert again == claimed
    assert len(claimed) == 1


async def test_transactions_that_wait_together_are_committed_together(store):
    commits: list[Commit] = []
    store.observe(commits.append)

    await asyncio.gather(
        *(store.transact(lambda tx, n=n: tx.remember(str(n), "x")) for n in range(500))
    )

    assert len(commits) < 100
    assert await store.read(lambda r: r.recall("499")) == "x"


async def test_a_group_has_a_bound(store):
    def slow(_tx):
        return sum(range(300_000))

    commits: list[Commit] = []
    store.observe(commits.append)
    works = [store.transact(slow)]
    works += [
        store.transact(lambda tx, n=n: tx.remember(str(n), "x")) for n in range(3 * GROUP_MAX)
    ]
    await asyncio.gather(*works)

    assert len(commits) >= 3


async def test_scopes_beyond_the_cache_are_read_from_disk(store):
    count = SCOPES_CACHED_MAX + 20

    def create(tx) -> None:
        for number in range(count):
            scope = Scope(
                id=ScopeId(f"s{number}"), kind=ScopeKind.VIRTUAL_MACHINE, machines={}, events={}
            )
            tx.record(created(scope), NOON)

    await store.transact(create)

    found = await store.transact(lambda tx: [tx.scope(f"s{n}").version for n in range(count)])
    assert found == [1] * count


async def test_a_scope_that_fell_out_of_the_cache_is_changed_correctly(store):
    await store.transact(lambda tx: tx.record(a_step(), NOON))
    await test_scopes_beyond_the_cache_are_read_from_disk(store)

    def change(tx) -> None:
        before = tx.scope(a_scope().id)
        after = replace(before, events={**before.events, "N": an_event("N")})
        tx.record(Step(before=before, scope=after), NOON)

    await store.transact(change)

    assert [*(await store.read(lambda r: r.scope(a_scope().id))).events] == ["E", "N"]


async def test_an_empty_file_is_brought_to_the_present_schema(path):
    await SqliteStore(path).close()

    with sqlite3.connect(path) as connection:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
    connection.close()
    assert version == migrations()[-1][0]
    assert mode == "wal"


async def test_opening_again_migrates_nothing(path):
    await SqliteStore(path).close()
    store = SqliteStore(path)
    await store.transact(lambda tx: tx.remember("k", "v"))
    await store.close()


def test_a_newer_schema_is_refused_with_a_sentence(path):
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 999")
    connection.close()

    with pytest.raises(
        StoreVersionError, match=r"schema 999, this lastcall knows \d+: use a newer"
    ):
        SqliteStore(path)


def fill_up(connection: sqlite3.Connection) -> None:
    """Let the file grow no further: what a full disk does, without one."""
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages}")


async def test_a_full_disk_refuses_changes_nothing_and_passes(store):
    told: list[Commit] = []
    await store.transact(lambda tx: tx.record(a_step(), NOON))
    store.observe(told.append)
    before = await store.read(lambda r: r.scope(a_scope().id))
    fill_up(store._writing)

    with pytest.raises(StoreUnavailableError, match="full"):
        await store.transact(everything_big)

    assert told == [Commit(trouble="database or disk is full")]
    assert await store.read(lambda r: tuple(r.scale_sets())) == ()
    assert await store.read(lambda r: r.scope(a_scope().id)) == before
    assert await store.transact(lambda tx: tx.scope(a_scope().id)) == before

    store._writing.execute("PRAGMA max_page_count = 1000000")
    await store.transact(everything_big)
    assert await store.read(lambda r: r.recall("k")) == "v"
    found = await store.read(lambda r: r.history(HistoryFilter(limit=9)))
    assert [line.seq for line in found] == [1, 2]


def everything_big(tx) -> None:
    before = tx.scope(a_scope().id)
    tx.record(Step(before=before, scope=before, notes=a_step().notes), NOON)
    tx.put_scale_set(a_scale_set(), b"x" * 1_000_000)
    tx.remember("k", "v")


async def test_trouble_of_a_group_is_everybodys_and_a_refusal_its_own(store):
    fill_up(store._writing)

    def refuse(_tx):
        raise ZeroDivisionError

    results = await asyncio.gather(
        store.transact(lambda tx: tx.put_scale_set(a_scale_set(), b"x" * 1_000_000)),
        store.transact(refuse),
        return_exceptions=True,
    )

    assert [type(result) for result in results] == [StoreUnavailableError, ZeroDivisionError]


async def test_a_store_that_became_read_only_says_so(store):
    store._writing.execute("PRAGMA query_only = ON")

    with pytest.raises(StoreUnavailableError, match="readonly"):
        await store.transact(lambda tx: tx.remember("k", "v"))

    store._writing.execute("PRAGMA query_only = OFF")
    await store.transact(lambda tx: tx.remember("k", "v"))


async def test_a_damaged_store_is_trouble_for_readers_and_writers(store):
    await store.transact(lambda tx: tx.record(a_step(), NOON))
    store._writing.execute("DROP TABLE operations")

    with pytest.raises(StoreUnavailableError, match="operations"):
        await store.transact(lambda tx: tx.operation(OperationId("o")))
    with pytest.raises(StoreUnavailableError, match="operations"):
        await store.read(lambda r: r.operation(OperationId("o")))
    await store.transact(lambda tx: tx.remember("k", "v"))


async def test_a_value_that_cannot_be_written_does_not_stop_the_writer(store):
    with pytest.raises(TypeError):
        await store.transact(lambda tx: tx.put_scale_set(replace(a_scale_set(), name=object())))

    await store.transact(lambda tx: tx.remember("k", "v"))


async def test_a_commit_counts_even_if_its_timers_cannot_be_read(store):
    told: list[Commit] = []
    store.observe(told.append)
    store._writing.execute("INSERT INTO effects VALUES (1, 'E', 'm', 'soon', x'')")

    await store.transact(lambda tx: tx.remember("k", "v"))

    assert [commit.next_due for commit in told] == [None]
    assert await store.read(lambda r: r.recall("k")) == "v"


async def test_whoever_leaves_before_the_answer_has_it_recorded_all_the_same(store):
    asked = asyncio.ensure_future(store.transact(lambda tx: tx.remember("k", "v")))
    await asyncio.sleep(0)
    asked.cancel()

    await store.transact(lambda tx: tx.remember("other", "v"))
    assert await store.read(lambda r: r.recall("k")) == "v"


async def test_closing_commits_what_is_queued(path):
    store = SqliteStore(path)
    asked = [
        asyncio.ensure_future(store.transact(lambda tx, n=n: tx.remember(str(n), "v")))
        for n in range(20)
    ]
    await asyncio.sleep(0)
    await store.close()
    await asyncio.gather(*asked)

    again = SqliteStore(path)
    assert await again.read(lambda r: r.recall("19")) == "v"
    await again.close()


def test_what_is_queued_by_a_loop_that_ended_is_recorded(path):
    store = SqliteStore(path)

    async def ask_and_leave() -> None:
        task = asyncio.ensure_future(store.transact(slowly))
        await asyncio.sleep(0)
        task.cancel()

    asyncio.run(ask_and_leave())
    asyncio.run(store.close())

    again = SqliteStore(path)
    assert asyncio.run(recalled(again)) == "v"


def slowly(tx) -> None:
    sum(range(2_000_000))
    tx.remember("k", "v")


async def recalled(store: SqliteStore) -> str | None:
    found = await store.read(lambda r: r.recall("k"))
    await store.close()
    return found


async def test_a_lease_is_in_the_file_until_it_runs_out(store):
    await store.transact(lambda tx: tx.record(a_step(), NOON))
    await store.transact(lambda tx: tx.claim_effects(NOON, NOON + LEASE, 9))

    assert await store.read(lambda r: r.next_due()) == NOON + LEASE
    late = NOON + LEASE + SECOND
    assert len(await store.transact(lambda tx: tx.claim_effects(late, late + LEASE, 9))) == 1


async def test_an_effect_that_was_dropped_a_moment_ago_is_not_claimed(store):
    await store.transact(lambda tx: tx.record(a_step(), NOON))

    def drop(tx) -> None:
        before = tx.scope(a_scope().id)
        done = replace(before, events={})
        tx.record(Step(before=before, scope=done, dropped=(("E", "web_0"),)), NOON)

    _, _, claimed = await asyncio.gather(
        store.transact(lambda _tx: sum(range(300_000))),  # so that the others wait together
        store.transact(drop),
        store.transact(lambda tx: tx.claim_effects(NOON, NOON + LEASE, 9)),
    )

    assert claimed == []


async def test_an_observer_that_fails_keeps_nobody_waiting(store):
    loop = asyncio.get_running_loop()
    bugs: list[object] = []
    loop.set_exception_handler(lambda _loop, context: bugs.append(context["exception"]))

    def fails(_commit):
        raise ValueError("bug")

    store.observe(fails)

    await store.transact(lambda tx: tx.remember("key", "value"))

    assert await store.read(lambda r: r.recall("key")) == "value"
    assert [str(bug) for bug in bugs] == ["bug"]


async def test_a_closed_store_refuses(tmp_path):
    store = SqliteStore(tmp_path / "closed.db")
    await store.close()

    with pytest.raises(StoreUnavailableError, match="closed"):
        await store.transact(lambda tx: tx.remember("key", "value"))


async def test_what_cannot_be_written_takes_no_other_along(store):
    lost = store.transact(lambda tx: tx.remember("bad", "\ud800"))
    kept = store.transact(lambda tx: tx.remember("good", "value"))

    outcomes = await asyncio.gather(lost, kept, return_exceptions=True)

    assert isinstance(outcomes[0], UnicodeEncodeError)
    assert outcomes[1] is None
    assert await store.read(lambda r: r.recall("good")) == "value"


async def test_sets_of_an_older_folder_get_the_groups_they_were_written_into(path):
    (number, script), *_ = migrations()
    old = sqlite3.connect(path)
    old.executescript(f"{script}\nPRAGMA user_version = {number};")
    for name, group in (("a", "RG"), ("b", "rg"), ("c", "Other")):
        body = encode(replace(a_scale_set(), id=SetId(name), name=name, resource_group=group))
        old.execute("INSERT INTO scale_sets VALUES (?, NULL, ?)", (name, body))
    old.commit()
    old.close()

    store = SqliteStore(path)
    groups = await store.read(lambda r: r.resources(kind="microsoft.resources/resourcegroups"))
    await store.close()
    assert [group.id for group in groups] == [
        "/subscriptions/s/resourcegroups/other",
        "/subscriptions/s/resourcegroups/rg",
    ]
    assert groups[0].path == "/subscriptions/s/resourceGroups/Other"
    assert groups[0].content == {"location": "westus"}
    assert groups[0].created_at == NOON
