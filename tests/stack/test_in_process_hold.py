"""The component in-process-hold: the arbiter's tests again, held by the API server itself."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from localcluster.cluster import Cluster
from tests.stack import (
    in_process,
    test_eviction,
    test_hold,
    test_pause,
    test_replays,
    test_restarts_of_steps,
)
from tests.stack.objects import (
    cluster_queue,
    training_runtime,
    trainjob,
)
from tests.stack.team import Team, eventually, is_suspended, started_before_admission
from tests.stack.writes_of_jobs import LISTS

FIRST, LAST = "work-dataset-initializer-0", "work-node-0"
HARMLESS = {409, 504}
"""A conflict, and the request that JobSet gave up as it was ended."""

REFUSED = 400

Make = Callable[..., Team]


@pytest.fixture
def new_team(cluster: Cluster, new_team: Make) -> Iterator[Make]:
    """Makes teams whose Jobs never call us."""
    in_process.install(cluster)
    made = []

    def create(*, gpus: int = 8) -> Team:
        made.append(in_process.hold(new_team(gpus=gpus)))
        return made[-1]

    yield create
    for team in made:
        assert [item for item in team.reviews() if item["resource"] == "jobs"] == []


def _of(kind: str, test: Callable[..., None]) -> Callable[[Make], None]:
    return lambda new_team: test(new_team(), submit=test_pause.SUBMIT[kind])


def _with_team(test: Callable[[Team], None]) -> Callable[[Make], None]:
    return lambda new_team: test(new_team())


ARBITERS: dict[str, Callable[[Make], None]] = {
    "JobSet's attempts store nothing": lambda new_team: (
        test_hold.test_c01_a_held_job_is_not_written_by_jobsets_attempts(new_team, LISTS)
    ),
    "Kueue's start passes": test_hold.test_c01_kueues_start_passes_and_the_hold_ends,
    "a running TrainJob is paused": _of(
        "TrainJob", test_pause.test_c03_a_running_parent_is_paused_and_goes_on_later
    ),
    "a queued JobSet is paused": lambda new_team: (
        test_pause.test_c03_a_queued_parent_is_paused_and_is_not_started(
            new_team, submit=test_pause.SUBMIT["JobSet"]
        )
    ),
    "a flavor's node selector": _with_team(
        test_eviction.test_a_flavors_node_selector_comes_with_the_start_and_goes_with_the_stop
    ),
    "labels that are taken off": _with_team(
        test_replays.test_queue_labels_that_are_taken_off_a_held_job_come_back
    ),
    "a JobSet that succeeds early": _with_team(
        test_restarts_of_steps.test_a_jobset_that_succeeds_early_takes_its_held_job_with_it
    ),
}


@pytest.mark.parametrize("arbiter", ARBITERS.values(), ids=ARBITERS.keys())
def test_the_end_states_are_those_of_the_server(
    new_team: Make, arbiter: Callable[[Make], None]
) -> None:
    """What the server's hold is judged by holds where it is never asked about a Job."""
    arbiter(new_team)


@pytest.mark.alone
def test_a_trainjob_that_is_submitted_finishes_without_us(new_team: Make) -> None:
    """With no replica left JobSet makes, resumes and finishes every Job, and Kueue admits each."""
    team = new_team(gpus=1)
    times = {"download": "3s", "train": "2s"}
    team.apply([training_runtime("steps", team.namespace, gpus=8, **times)])
    team.submit(trainjob("work", team.namespace, team.label))
    eventually(lambda: team.pods_of(FIRST), f"a Pod of {FIRST}")
    with _down(team.cluster):
        team.await_condition("jobs", FIRST, "Complete")
        held = team.await_job(LAST)
        assert is_suspended(held)
        # A JobSet controller that starts looks at everything anew, and resumes what is suspended.
        before = len(_attempts(team))
        team.cluster.restart("jobset")
        eventually(lambda: len(_attempts(team)) > before, "JobSet tries to resume")
        assert is_suspended(team.one("jobs", LAST))
        assert team.pods_of(LAST) == []
        team.cluster.apply([cluster_queue(team.namespace, gpus=8)])
        team.await_condition("trainjobs", "work", "Complete")
        assert [item for item in team.cluster.status() if item.state == "dead"]
    writes = team.writes("jobs", "create", "update", "patch")
    assert [item for item in writes if item.code >= REFUSED and item.code not in HARMLESS] == []
    assert list(started_before_admission(team)) == []


@contextmanager
def _down(cluster: Cluster) -> Iterator[None]:
    """No replica of ours runs within the block."""
    cluster.kill("webhook")
    try:
        yield
    finally:
        cluster.start("webhook")


def _attempts(team: Team) -> list[str]:
    return [item.name for item in team.writes("jobs", "update") if item.name == LAST]
