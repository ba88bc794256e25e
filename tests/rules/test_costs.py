"""What a tenant can make large costs in step with its size: reviews share one thread."""

import gc
import time
from collections.abc import Callable

from tests.rules.factories import (
    STEP_QUEUES,
    cases,
    child_job,
    runtime_facts,
    step,
    trainjob,
)
from tests.rules.reviews import create, update
from webhook.rules import admit, review
from webhook.rules.facts import Facts
from webhook.rules.policy import Policy


def _tolerations(count: int) -> tuple[bytes, Facts]:
    keys = [{"key": f"k{n}"} for n in range(count)]
    return update(child_job(suspend=False, tolerations=keys[::-1]), child_job(tolerations=keys)), {}


def _step_queues(count: int) -> tuple[bytes, Facts]:
    pairs = ",".join(f"s{n}=q" for n in range(count))
    facts = runtime_facts([step(f"s{n}") for n in range(count)])
    return create(trainjob(annotations={STEP_QUEUES: pairs})), facts


GROWING: dict[str, Callable[[int], tuple[bytes, Facts]]] = {
    "tolerations of a held Job": _tolerations,
    "steps that the annotation gives queues": _step_queues,
}
FEW, TIMES = 1_000, 8


@cases(GROWING)
def test_eight_times_as_much_costs_about_eight_times_as_much(
    case: Callable[[int], tuple[bytes, Facts]],
) -> None:
    """Cost is linear: were it quadratic, it would be 64 times as much."""
    assert _cost(*case(FEW * TIMES)) < 2.5 * TIMES * _cost(*case(FEW))


def _cost(body: bytes, facts: Facts) -> float:
    """Processor time of one decision, the least of some."""
    costs = []
    for _ in range(5):
        request = review.read(body)
        gc.collect()
        gc.disable()
        started = time.process_time()
        admit.mutate(request, facts, Policy())
        costs.append(time.process_time() - started)
        gc.enable()
    return min(costs)
