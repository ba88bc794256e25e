"""What a reader has at hand is taken as it is; what it has not is read, and never too much."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations

import pytest

from tests.edge.conftest import Reports
from tests.rules.factories import (
    OWNER_KEY,
    PRIORITY,
    RUNTIME_KEY,
    STEP_QUEUES,
    TRAINER,
    Obj,
    Q,
    cases,
    runtime,
    stored_trainjob,
    torchtune_steps,
    trainer_jobset,
    trainjob,
    user_jobset,
)
from tests.rules.reviews import ALL, create, update
from webhook.http.admission import MOST_READS, Admission
from webhook.rules import review
from webhook.rules.facts import Absent, Answer, Found, Key, Reader
from webhook.rules.policy import Kueue, Policy
from webhook.rules.reasons import Reason
from webhook.rules.verdict import Verdict

pytestmark = pytest.mark.anyio

POLICY = Policy(kueue=Kueue(frozenset(ALL)))
RUNTIME, EMPTY = Found(runtime()), Found({})


@dataclass
class Memory(Reader):
    """Has some objects at hand; `there` is what a read finds."""

    known: dict[Key, Answer] = field(default_factory=dict)
    there: dict[Key, Answer] = field(default_factory=dict)
    read_keys: list[Key] = field(default_factory=list)

    def at_hand(self, key: Key) -> Answer | None:
        return self.known.get(key)

    async def read(self, key: Key) -> Answer:
        self.read_keys.append(key)
        return self.there.get(key, Absent())


async def _decided(reader: Reader, reports: Reports, body: bytes) -> Verdict:
    return await Admission(reader, POLICY, reports).mutate(review.read(body))


async def test_only_what_is_not_at_hand_is_read(reports: Reports) -> None:
    """The runtime is known, the queue is not: one read, and the same verdict as with two."""
    warm, cold = Memory({RUNTIME_KEY: RUNTIME}), Memory(there={RUNTIME_KEY: RUNTIME})
    verdicts = [await _decided(reader, reports, create(trainjob())) for reader in (warm, cold)]
    assert [verdict.reason for verdict in verdicts] == [Reason.STEPPED] * 2
    assert verdicts[0] == verdicts[1]
    assert [key.plural for key in warm.read_keys] == ["localqueues"]
    assert {key.plural for key in cold.read_keys} == {"localqueues", RUNTIME_KEY.plural}


class Fickle(Memory):
    """Has each object at hand only once, as one whose memory ends under a review."""

    def at_hand(self, key: Key) -> Answer | None:
        return self.known.pop(key, None)


async def test_an_answer_stands_for_the_whole_review(reports: Reports) -> None:
    """Two rules of one review never see two states of an object."""
    reader = Fickle({RUNTIME_KEY: RUNTIME})
    assert (await _decided(reader, reports, create(trainjob()))).reason is Reason.STEPPED
    assert RUNTIME_KEY not in reader.read_keys


def _kueues(plural: str, name: str, content: Obj, namespace: str = "") -> dict[Key, Answer]:
    return {Key("kueue.x-k8s.io", "v1beta2", plural, name, namespace): Found(content)}


QUEUE: dict[Key, Answer] = {
    **_kueues("localqueues", "gpu-q", {"spec": {"clusterQueue": "gpus"}}, "team-a"),
    **_kueues(
        "clusterqueues",
        "gpus",
        {"spec": {"admissionChecksStrategy": {"admissionChecks": [{"name": "far"}]}}},
    ),
    **_kueues("admissionchecks", "far", {"spec": {"controllerName": "somebody"}}),
    **_kueues("workloadpriorityclasses", "high", {}),
}
FAR = _kueues("admissionchecks", "far", {"spec": {"controllerName": "kueue.x-k8s.io/multikueue"}})
LABELS: Obj = {Q: "gpu-q", PRIORITY: "high"}
STEPS: dict[Key, Answer] = {RUNTIME_KEY: Found(runtime(torchtune_steps()))}
NO_SUCH_STEP = trainjob(labels=LABELS, annotations={STEP_QUEUES: "nobody=cpu-q"})
CREATED_BY_TRAINER = create(trainer_jobset(), user=TRAINER)
THERE: dict[str, tuple[bytes, dict[Key, Answer]]] = {
    "a TrainJob that is stepped": (create(trainjob(labels=LABELS)), {**STEPS, **QUEUE}),
    "one that leads to MultiKueue": (create(trainjob(labels=LABELS)), {**STEPS, **QUEUE, **FAR}),
    "one whose runtime is not there": (create(trainjob(labels=LABELS)), QUEUE),
    "one that names a step too many": (create(NO_SUCH_STEP), {**STEPS, **QUEUE}),
    "one whose annotation changes": (update(stored_trainjob(), NO_SUCH_STEP), STEPS),
    "a JobSet of a TrainJob": (CREATED_BY_TRAINER, {OWNER_KEY: Found(stored_trainjob()), **QUEUE}),
    "one whose TrainJob is gone": (CREATED_BY_TRAINER, QUEUE),
    "a JobSet of a user's": (create(user_jobset(LABELS)), QUEUE),
}


@cases(THERE)
async def test_what_is_at_hand_never_changes_a_verdict(
    reports: Reports, case: tuple[bytes, dict[Key, Answer]]
) -> None:
    """Of the same cluster, replicas that know any part of it say the same."""
    body, there = case
    expected = await _answered(Memory(there=there), reports, body)
    for known in _parts(there):
        assert await _answered(Memory(known, there), reports, body) == expected, list(known)


async def _answered(reader: Reader, reports: Reports, body: bytes) -> bytes:
    return review.write(review.read(body), await _decided(reader, reports, body))


def _parts(there: dict[Key, Answer]) -> Iterator[dict[Key, Answer]]:
    for size in range(len(there) + 1):
        for keys in combinations(there, size):
            yield {key: there[key] for key in keys}


async def test_too_much_is_too_much_whatever_is_at_hand(reports: Reports) -> None:
    """Replicas that remember different things give the same verdict."""
    body = create(trainjob(labels=LABELS))
    checks = [{"name": f"check-{number}"} for number in range(MOST_READS)]
    many = {"spec": {"admissionChecksStrategy": {"admissionChecks": checks}}}
    there = {**STEPS, **QUEUE, **_kueues("clusterqueues", "gpus", many)}
    for check in checks:
        there |= _kueues("admissionchecks", check["name"], {})
    some = {key: there[key] for key in QUEUE}
    readers = (Memory(there), Memory(some, there), Memory(there=there))
    verdicts = [await _decided(reader, reports, body) for reader in readers]
    assert {verdict.reason for verdict in verdicts} == {Reason.WHOLE_RUNTIME_UNREADABLE}
    assert len(reports.misses) == len(readers)
