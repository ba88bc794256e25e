"""What is told, and when it is looked at again: with a writer that takes everything or nothing."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from tests.edge.objects_seen import Tree, condition, job, jobset, workload
from webhook.cluster.changes import Changed
from webhook.cluster.happenings import LONGEST_AGE, PATIENCE, Happening, Happenings
from webhook.cluster.items import Item
from webhook.cluster.known import Known
from webhook.cluster.pace import SLICE
from webhook.cluster.teller import Teller
from webhook.rules.reasons import EventReason

pytestmark = pytest.mark.anyio

ODD = "odd"


@dataclass(slots=True)
class Judge(Happenings):
    """Keeps which uids were judged, and fails with an odd one."""

    judged: list[str] = field(default_factory=list)

    def due(self, uid: str, now: datetime) -> list[Happening]:
        """What is due."""
        self.judged.append(uid)
        if uid == ODD:
            raise OverflowError(uid)
        return Happenings.due(self, uid, now)


@dataclass
class Writer:
    """Takes as many Events as it has places."""

    places: int
    taken: list[EventReason] = field(default_factory=list)
    is_free: asyncio.Event = field(default_factory=asyncio.Event)

    def put(self, happening: Happening) -> bool:
        """One more, if there is a place."""
        if len(self.taken) == self.places:
            return False
        self.taken.append(happening.reason)
        return True

    async def room(self) -> None:
        """Waits until somebody has made room."""
        await self.is_free.wait()

    def free(self) -> None:
        """Makes room for one."""
        self.places += 1
        self.is_free.set()


@dataclass
class Witness:
    """Keeps what is lost."""

    losses: list[str] = field(default_factory=list)

    def event_recorded(self, namespace: str, name: str, reason: str, *, new: bool) -> None:
        """An Event is stored."""

    def companion_lost(self, what: str, why: str) -> None:
        """Something is lost."""
        self.losses.append(f"{what}: {why}")


@dataclass
class Timers:
    """Keeps what is to be called, and after how many seconds."""

    set: list[tuple[float, Callable[[], None]]] = field(default_factory=list)

    def call_later(self, seconds: float, call: Callable[[str], None], uid: str) -> None:
        """One more timer."""
        self.set.append((seconds, partial(call, uid)))


@dataclass
class Telling:
    """A teller at work, and all that it works with."""

    teller: Teller
    judge: Judge
    writer: Writer
    witness: Witness
    timers: Timers


@asynccontextmanager
async def telling(*, room: int, **workload_: str) -> AsyncIterator[Telling]:
    """One that knows a step, with a Workload if there is something to say of it."""
    known = Known()
    known.see_jobs(Changed(job(condition("Complete", 0) | {"lastTransitionTime": ago(1)})))
    known.see_jobsets(Changed(jobset()))
    if workload_:
        known.see_workloads(Changed(_workload(workload_)))
    judge, writer, witness = Judge(known), Writer(room), Witness()
    timers = Timers()
    teller = Teller(judge, writer, witness, timers.call_later)
    task = asyncio.create_task(teller.run())
    yield Telling(teller, judge, writer, witness, timers)
    task.cancel()
    await asyncio.wait([task])


def _workload(metadata: Tree) -> Item:
    return workload(**metadata)


def ago(seconds: float) -> str:
    """A time of today, as the API server could write it."""
    return (datetime.now(UTC) - timedelta(seconds=seconds)).isoformat()


async def test_what_the_writer_has_no_room_for_is_told_later() -> None:
    """Nothing counts as told before it is taken, and nothing has to change for it to come."""
    async with telling(room=0) as at_work:
        at_work.teller.tell("job")
        await asyncio.sleep(0.01)
        assert len(at_work.judge.due("job", datetime.now(UTC))) == 1
        at_work.writer.free()
        await asyncio.sleep(0.01)
        assert at_work.writer.taken == [EventReason.STEP_FINISHED]
        assert at_work.judge.due("job", datetime.now(UTC)) == []


async def test_what_lasts_for_a_moment_is_told() -> None:
    """A state is judged when it is seen: the next may follow at once."""
    async with telling(room=9) as at_work:
        at_work.teller.tell("job")
        at_work.judge.known.see_jobs(Changed(job()))
        at_work.teller.tell("job")
        assert at_work.writer.taken == [EventReason.STEP_FINISHED]


async def test_a_uid_that_waits_for_room_is_judged_again_once() -> None:
    """However often it has changed while the writer was behind."""
    async with telling(room=0) as at_work:
        for _ in range(10):
            at_work.teller.tell("job")
        at_work.writer.free()
        await asyncio.sleep(0.01)
        assert at_work.judge.judged == ["job"] * 11
        assert at_work.writer.taken == [EventReason.STEP_FINISHED]


async def test_an_object_that_cannot_be_judged_costs_no_other() -> None:
    """A bug that shows with one object is told, and the others have their Events."""
    async with telling(room=1) as at_work:
        at_work.teller.tell(ODD)
        at_work.teller.tell("job")
        await asyncio.sleep(0.01)
        assert at_work.writer.taken == [EventReason.STEP_FINISHED]
        assert at_work.witness.losses == ["write of an Event: odd: OverflowError('odd')"]


async def test_a_step_that_only_just_waits_has_one_timer() -> None:
    """Every change of it asks; when the time is up it is looked at once more."""
    just = PATIENCE.total_seconds() - 1
    async with telling(room=9, creationTimestamp=ago(just)) as at_work:
        for _ in range(5):
            at_work.teller.tell("job")
            await asyncio.sleep(0.01)
        ((seconds, call),) = at_work.timers.set
        assert 0 < seconds <= 1
        await asyncio.sleep(seconds)
        call()
        await asyncio.sleep(0.01)
        assert at_work.writer.taken == [EventReason.STEP_FINISHED, EventReason.STEP_QUEUED]
        assert len(at_work.timers.set) == 1


AHEAD = {"a clock that is ahead by an hour": ago(-3600), "no time of ours": "9999-12-31T23:59:59Z"}


@pytest.mark.parametrize("created", AHEAD.values(), ids=AHEAD.keys())
async def test_a_clock_that_is_ahead_makes_no_work(created: str) -> None:
    """The step is looked at when it changes, and not every few seconds until the clocks agree."""
    async with telling(room=9, creationTimestamp=created) as at_work:
        for _ in range(5):
            at_work.teller.tell("job")
            await asyncio.sleep(0.01)
        ((seconds, _),) = at_work.timers.set
        assert seconds == LONGEST_AGE.total_seconds()


async def test_others_run_while_much_is_judged_again() -> None:
    """A review is not kept waiting for the last of many."""
    uids = [str(number) for number in range(10 * SLICE)]
    done = condition("Complete", 0) | {"lastTransitionTime": ago(1)}
    async with telling(room=0) as at_work:
        at_work.judge.known.see_jobsets(Changed(jobset(replicas=len(uids))))
        for uid in uids:
            one = job(done, uid=uid, name=f"tune-node-{uid}")
            at_work.judge.known.see_jobs(Changed(one))
            at_work.teller.tell(uid)
        at_work.writer.places = len(uids)
        at_work.writer.is_free.set()
        turns = 0
        while len(at_work.writer.taken) < len(uids):
            await asyncio.sleep(0)
            turns += 1
        assert turns > 5
