"""What large reviews cost: processor time in step with their size, few reads, flat memory."""

import asyncio
import gc
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.edge.program import Program, serving_program
from tests.edge.test_hostile_input import Server
from tests.rules.factories import (
    STEP_QUEUES,
    Q,
    S,
    annotated,
    cases,
    changed,
    child_job,
    labelled,
    step,
    stored_jobset,
    trainjob,
    user_jobset,
)
from tests.rules.reviews import call, create, update
from webhook.http.body import MAX_BYTES
from webhook.http.intake import MEBIBYTE


def _chain(length: int) -> bytes:
    steps = [step("s0"), *(step(f"s{n}", f"s{n - 1}") for n in range(1, length))]
    return create(user_jobset(steps=steps))


def _edges(count: int) -> bytes:
    return create(user_jobset(steps=[step("a"), step("b", *(f"x{n}" for n in range(count)))]))


def _labels(count: int) -> bytes:
    return create(labelled(user_jobset(), {f"example.com/l{n}": "v" for n in range(count)}))


def _owners(count: int) -> bytes:
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": "u"}
    return create(changed(trainjob(), {"metadata": {"ownerReferences": [owner] * count}}))


def _queues(count: int) -> bytes:
    pairs = ",".join(f"s{n}=q{n}" for n in range(count))
    return create(annotated(trainjob(runtimeRef={"name": "unknown"}), {STEP_QUEUES: pairs}))


def _own_queues(count: int) -> bytes:
    return create(user_jobset(steps=[step(f"s{n}", labels={Q: f"q{n}"}) for n in range(count)]))


def _replayed(count: int) -> bytes:
    made = user_jobset(steps=[step(f"s{n}") for n in range(count)])
    return update(made, stored_jobset(made))


GROWING: dict[str, tuple[Callable[[int], bytes], int]] = {
    "a chain of steps": (_chain, 120),
    "edges of one step": (_edges, 1_000),
    "labels": (_labels, 1_000),
    "owners": (_owners, 1_000),
    "queues in the annotation": (_queues, 1_000),
    "steps with queues of their own": (_own_queues, 120),
    "steps of an update": (_replayed, 120),
}
"""What there may be many of, and how many are few."""

TIMES = 8


@cases(GROWING)
def test_eight_times_as_much_costs_about_eight_times_as_much(
    case: tuple[Callable[[int], bytes], int],
) -> None:
    """Cost is linear in what a review holds: were it quadratic, it would be 64 times as much."""
    body, few = case
    assert _cost(body(few * TIMES)) < 2.5 * TIMES * _cost(body(few))


def _cost(body: bytes) -> float:
    """Processor time of one call, the least of some."""
    server = Server()
    costs = []
    for _ in range(5):
        gc.collect()
        gc.disable()
        started = time.process_time()
        answer = asyncio.run(server.post(body, "/mutate"))
        costs.append(time.process_time() - started)
        gc.enable()
        assert answer.status_code == 200
    return min(costs)


NAMING_MANY: dict[str, bytes] = {
    "an annotation that names many queues": _queues(10_000),
    "steps that name many queues": _own_queues(900),
}


@cases(NAMING_MANY)
def test_one_review_asks_the_cluster_for_few_objects(case: bytes) -> None:
    """However many queues an object names, its review is no flood of reads; it is refused."""
    server = Server()
    answer = asyncio.run(server.post(case, "/mutate")).json()["response"]
    assert server.objects.asked == []
    assert server.reports.misses == []
    assert "at most 30 can be" in answer["status"]["message"]


def test_a_review_of_a_label_that_is_not_ours_asks_for_nothing() -> None:
    """What does not concern us costs the cluster no read."""
    server = Server()
    for body in (create(trainjob({})), create(child_job(labels={})), call("DELETE", None, {})):
        asyncio.run(server.post(body, "/mutate"))
    asyncio.run(server.post(update(labelled(trainjob(), {S: "a"}), trainjob()), "/mutate"))
    assert server.objects.asked == []


GVR = ("group", "version", "resource")
BIG = "x" * 6_000_000
ATTACKS: dict[str, bytes] = {
    "spaces": b" " * MAX_BYTES,
    "digits": b"1" * MAX_BYTES,
    "brackets": b"[" * MAX_BYTES,
    "a byte too many": b" " * (MAX_BYTES + 1),
    "a label of six megabytes": create(labelled(trainjob(), {Q: BIG})),
    "a uid of six megabytes": create(trainjob(), uid=BIG),
    "a resource of six megabytes": create(trainjob(), resource=dict.fromkeys(GVR, BIG)),
    "a namespace of six megabytes": create(trainjob(), namespace=BIG),
    "100,000 labels": _labels(100_000),
    "50,000 owners": _owners(50_000),
    "100,000 queues": _queues(100_000),
    "100,000 edges": _edges(100_000),
    "3,000 steps": _chain(3_000),
}
ROUNDS = 3
GROWTH = 32 * MEBIBYTE
LIMIT = 320 * MEBIBYTE


def test_hostile_bodies_leave_memory_flat(tmp_path: Path) -> None:
    """More rounds of the largest and oddest bodies leave no more memory held than the first do.

    And at no time more than the container may have (manifests/base/deployment.yaml). Memory that
    is free again goes back to the system or not, by chance: so the least of some rounds counts.
    Were two large bodies a round kept, it would show.
    """
    with serving_program(tmp_path, {"SERVER__PATIENCE_SECONDS": "300"}) as program:
        for _ in range(3):
            _attack(program)
        before = _least_held(program)
        assert _least_held(program) < before + GROWTH
        assert program.memory("VmHWM") < LIMIT


def _least_held(program: Program) -> int:
    held = []
    for _ in range(ROUNDS):
        _attack(program)
        held.append(program.memory("VmRSS"))
    return min(held)


def _attack(program: Program) -> None:
    """Every large body once, four at a time; each is refused or answered."""
    url = program.url("/mutate")
    with ThreadPoolExecutor(4) as threads, program.client() as client:
        headers = {"content-type": "application/json"}
        calls = [
            threads.submit(client.post, url, content=body, headers=headers)
            for body in ATTACKS.values()
        ]
        statuses = {
            name: call.result().status_code for name, call in zip(ATTACKS, calls, strict=True)
        }
    assert set(statuses.values()) <= {200, 400, 413}, statuses
