"""Where a step stands that has no Job, for all that its JobSet and the steps before it can say."""

from collections.abc import Mapping

import pytest

from tests.steps.made import Object, ago, condition, job, jobset, parent, step
from tests.steps.test_states import RUNS, STEPS
from webhook.steps.tree import State
from webhook.steps.wording import why_step


def test_every_state_of_a_step_is_in_these_tables() -> None:
    """None that the enumeration has is left out."""
    told = {state for _, state, _ in STEPS.values()} | {state for _, state, _ in ABSENT.values()}
    assert told == set(State)


def _paused(owner: Object) -> Object:
    return {**owner, "spec": {**owner["spec"], "suspend": True}}


TWO = (step("data"), step("node", "data", gpus=8))
READY = (step("data"), step("node", "data", status="Ready"))
ABSENT: Mapping[str, tuple[tuple[Object, ...], State, str]] = {
    "its data is not there": (
        (jobset(), job(jobset(), "data")),
        State.WAITING,
        "waits for data",
    ),
    "what it waits for is not made either": ((jobset(),), State.WAITING, "waits for data"),
    "what it waits for is not ready": (
        (jobset(steps=READY), job(jobset(steps=READY), "data", spec=RUNS)),
        State.WAITING,
        "waits for data (Ready)",
    ),
    "what it waits for is ready": (
        (jobset(steps=READY), job(jobset(steps=READY), "data", spec=RUNS, status={"ready": 1})),
        State.ABSENT,
        "JobSet has not made its Job yet",
    ),
    "what it waits for has failed": (
        (jobset(condition("Failed")), job(jobset(), "data", condition("Failed"))),
        State.ABSENT,
        "its JobSet has ended without it",
    ),
    "its JobSet has just seen that its data is there": (
        (jobset(), job(jobset(), "data", condition("Complete"))),
        State.ABSENT,
        "JobSet has not made its Job yet",
    ),
    "its JobSet is suspended": (
        (_paused(jobset()), job(jobset(), "data", condition("Complete"))),
        State.PAUSED,
        "JobSet tune is suspended",
    ),
    "its Job is being deleted, for a restart": (
        (
            jobset(),
            job(jobset(), "data", condition("Complete")),
            job(jobset(), "node", condition("Failed"), deletionTimestamp=ago(1)),
        ),
        State.ABSENT,
        "JobSet has not made its Job yet",
    ),
}


@pytest.mark.parametrize(("objects", "state", "why"), ABSENT.values(), ids=ABSENT.keys())
def test_a_step_without_a_job_is(objects: tuple[Object, ...], state: State, why: str) -> None:
    """Its state, and for what it waits."""
    found = parent(*objects).steps[1]
    assert (found.standing.state, why_step(found), found.job) == (state, why, None)
