"""Kueue with its batch/job integration alone: stepping is then the only queueing there is."""

import json
from collections.abc import Callable, Iterator

import pytest

from localcluster.cluster import Cluster
from localcluster.options import BATCH_JOB, JOBSET, TRAINJOB
from tests.stack.objects import QUEUE, jobset, step, training_runtime, trainjob
from tests.stack.team import (
    Team,
    condition_time,
    eventually,
    ran,
    started_before_admission,
    submitted,
)

OFF = "integration is off: admitted step by step instead of whole"
GANG = (step("server", gpus=2, run_for="1h"), step("client", "server", status="Ready", gpus=1))


@pytest.fixture
def batch_job_alone(turn: None, cluster: Cluster) -> Iterator[None]:
    """Kueue restarted with one integration, and put back afterwards.

    The server remembers Kueue's configuration for ten seconds.
    """
    cluster.configure_kueue(frameworks=(BATCH_JOB,))
    eventually(lambda: OFF in _said_of_a_gang(cluster), "the server knows it")
    yield
    cluster.configure_kueue(frameworks=(BATCH_JOB, JOBSET, TRAINJOB))
    eventually(lambda: OFF not in _said_of_a_gang(cluster), "the server knows it again")


def _said_of_a_gang(cluster: Cluster) -> str:
    gang = json.dumps(jobset("probe", "default", {QUEUE: "gpu"}, *GANG))
    run = ran(cluster, "create", "--dry-run=server", "-f", "-", stdin=gang)
    run.check_returncode()
    return run.stderr


@pytest.mark.alone
@pytest.mark.usefixtures("batch_job_alone")
def test_a_trainjob_is_admitted_step_by_step(team: Team) -> None:
    """Without Kueue's TrainJob and JobSet integrations each step still waits for its quota."""
    team.apply([training_runtime("steps", team.namespace, gpus=8, download="2s", train="2s")])
    team.submit(trainjob("tune", team.namespace, team.label))
    team.await_condition("trainjobs", "tune", "Complete")
    done = condition_time(team.one("jobs", "tune-dataset-initializer-0"), "Complete")
    assert done <= condition_time(team.workload_of("tune-node-0"), "QuotaReserved")
    assert len(team.workloads()) == 3
    assert list(started_before_admission(team)) == []


@pytest.mark.alone
@pytest.mark.usefixtures("batch_job_alone")
def test_gangs_are_warned_of_the_deadlock_that_is_then_possible(
    new_team: Callable[..., Team],
) -> None:
    """Two gangs of three GPUs on a queue of four each hold two, as their users were told."""
    team = new_team(gpus=4)
    for name in ("one", "two"):
        said = submitted(team, jobset(name, team.namespace, team.label, *GANG))
        assert OFF in said
        assert "admitted apart, they can wait for each other for ever" in said
        team.await_running(f"{name}-server-0")
    for name in ("one", "two"):
        team.workload_of(f"{name}-client-0")
        assert team.running_pod(f"{name}-client-0") is None
    eventually(lambda: team.reserved() == 4, "two GPUs are reserved for each server")
    assert list(started_before_admission(team)) == []
    team.cluster.kubectl("delete", "jobsets", "--all", "-n", team.namespace)
