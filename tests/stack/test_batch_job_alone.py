"""Kueue with its batch/job integration alone: stepping is then the only queueing there is."""

from collections.abc import Iterator

import pytest

from localcluster.cluster import Cluster
from localcluster.options import BATCH_JOB, JOBSET, TRAINJOB
from tests.stack.objects import training_runtime, trainjob
from tests.stack.team import Team, condition_time, started_before_admission


@pytest.fixture
def batch_job_alone(turn: None, cluster: Cluster) -> Iterator[None]:
    """Kueue restarted with one integration, and put back afterwards."""
    cluster.configure_kueue(frameworks=(BATCH_JOB,))
    yield
    cluster.configure_kueue(frameworks=(BATCH_JOB, JOBSET, TRAINJOB))


@pytest.mark.alone
@pytest.mark.usefixtures("batch_job_alone")
def test_a_trainjob_is_admitted_step_by_step(team: Team) -> None:
    """Without Kueue's TrainJob and JobSet integrations each step still waits for its quota."""
    team.apply([training_runtime("steps", team.namespace, gpus=8, download="2s", train="2s")])
    team.submit(trainjob("tune", team.namespace, team.label))
    team.await_condition("trainjobs", "tune", "Complete")
    dataset, node = (team.workload_of(f"tune-{step}-0") for step in ("dataset-initializer", "node"))
    assert condition_time(dataset, "Finished") <= condition_time(node, "QuotaReserved")
    assert len(team.workloads()) == 3
    assert list(started_before_admission(team)) == []
