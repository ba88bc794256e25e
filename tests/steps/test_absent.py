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


def _stranger(name: str) -> Object:
    """A complete Job with the label and the owner of the step `data`, under this name."""
    made = job(jobset(), "data", condition("Complete"))
    return {**made, "metadata": {**made["metadata"], "name": name, "uid": name}}


TWO = (step("data"), step("node", "data", gpus=8))
READY = (step("data"), step("node", "data", status="Ready"))
PAIR = (step("data", job={"parallelism": 2}), step("node", "data", status="Ready"))
TWINS = (step("data", replicas=2), step("node", "data"))
NONE = (step("data", replicas=0), step("node", "data"))
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
    "what it waits for has pods that are ready and pods that are done": (
        (
            jobset(steps=PAIR),
            job(jobset(steps=PAIR), "data", spec=RUNS, status={"ready": 1, "succeeded": 1}),
        ),
        State.ABSENT,
        "JobSet has not made its Job yet",
    ),
    "what it waits for has one pod of two": (
        (
            jobset(steps=PAIR),
            job(jobset(steps=PAIR), "data", spec=RUNS, status={"ready": 1}),
        ),
        State.WAITING,
        "waits for data (Ready)",
    ),
    "what it waits for was ready and is complete": (
        (jobset(steps=READY), job(jobset(steps=READY), "data", condition("Complete"), spec=RUNS)),
        State.ABSENT,
        "JobSet has not made its Job yet",
    ),
    "what it waits for was ready and has failed": (
        (jobset(steps=READY), job(jobset(steps=READY), "data", condition("Failed"), spec=RUNS)),
        State.ABSENT,
        "JobSet has not made its Job yet",
    ),
    "one of the two that it waits for is not made": (
        (jobset(steps=TWINS), job(jobset(steps=TWINS), "data", condition("Complete"))),
        State.WAITING,
        "waits for data",
    ),
    "what it waits for has no Jobs": (
        (jobset(steps=NONE),),
        State.ABSENT,
        "JobSet has not made its Job yet",
    ),
    "it waits for a step that there is not": (
        (jobset(steps=(step("data"), step("node", "gone"))),),
        State.WAITING,
        "waits for gone",
    ),
    "what it waits for is complete, as a Job says that JobSet did not make": (
        (jobset(), _stranger("complete-data")),
        State.WAITING,
        "waits for data",
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
    *_, found = parent(*objects).steps
    assert (found.standing.state, why_step(found), found.job) == (state, why, None)


NAMES = ("complete-data", "tune-data-1", "tune-data-01", "tune-data-x", "tune-data", "tune-data-00")


@pytest.mark.parametrize("name", NAMES)
def test_a_job_that_jobset_did_not_make_is_no_step(name: str) -> None:
    """Whoever may make Jobs may give them any label and any owner."""
    own, waiting = parent(jobset(), job(jobset(), "data"), _stranger(name)).steps
    assert (own.job, own.standing.state) == ("tune-data-0", State.QUEUED)
    assert (waiting.name, waiting.pods) == ("node", 1)
    assert [one.job for one in parent(jobset(), _stranger(name)).steps] == [None, None]
