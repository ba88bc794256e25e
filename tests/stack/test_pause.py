"""Pause and resume on the real control plane: pods gone, quota back, no quarrel, queued again."""

import json
import time
from collections.abc import Callable

import pytest

from localcluster.errors import KubectlError
from tests.stack.objects import (
    GPU,
    PAUSED,
    Object,
    cluster_queue,
    jobset,
    step,
    training_runtime,
    trainjob,
)
from tests.stack.team import Team, eventually, started_before_admission

QUIET_SECONDS = 3.0


def _trainjob(team: Team, **times: str) -> str:
    times = {"download": "1s", "train": "6s"} | times
    team.apply([training_runtime("steps", team.namespace, gpus=8, **times)])
    team.submit(trainjob("work", team.namespace, team.label))
    return "trainjob"


def _jobset(team: Team, **times: str) -> str:
    times = {"download": "1s", "train": "6s"} | times
    team.submit(
        jobset(
            "work",
            team.namespace,
            team.label,
            step("first", run_for=times["download"]),
            step("node", "first", gpus=8, run_for=times["train"]),
        )
    )
    return "jobset"


SUBMIT: dict[str, Callable[..., str]] = {"TrainJob": _trainjob, "JobSet": _jobset}
DONE = {"trainjob": "Complete", "jobset": "Completed"}


@pytest.fixture(params=SUBMIT)
def submit(request: pytest.FixtureRequest) -> Callable[..., str]:
    """Submits a parent `work` whose last step `node` needs eight GPUs, and tells its kind."""
    return SUBMIT[request.param]


def test_c03_a_running_parent_is_paused_and_goes_on_later(
    team: Team, submit: Callable[..., str]
) -> None:
    """C03: a pause stops the pods and gives the GPUs back; the step is queued again on resume."""
    kind = submit(team, train="15s")
    eventually(lambda: _running(team), "the training pod runs")
    team.suspend(kind, "work", True)
    eventually(lambda: not _pods(team) and _reserved(team) == 0, "pods gone, quota back")
    assert team.one(kind, "work")["spec"]["suspend"] is True
    assert team.one("jobs", "work-node-0")["metadata"]["annotations"][PAUSED] == "true"
    assert_quiet(team)
    team.suspend(kind, "work", False)
    team.await_condition(kind, "work", DONE[kind])
    assert PAUSED not in team.one("jobs", "work-node-0")["metadata"].get("annotations", {})
    assert list(started_before_admission(team)) == []


def test_c03_the_quota_of_a_paused_parent_does_others_work(
    team: Team, submit: Callable[..., str]
) -> None:
    """C03: while a parent is paused, another one runs on its GPUs."""
    kind = submit(team)
    eventually(lambda: _running(team), "the training pod runs")
    team.suspend(kind, "work", True)
    team.submit(
        jobset("other", team.namespace, team.label, step("only", gpus=8), step("b", "only"))
    )
    team.await_condition("jobset", "other", "Completed")
    team.suspend(kind, "work", False)
    team.await_condition(kind, "work", DONE[kind])


def test_c03_a_queued_parent_is_paused_and_is_not_started(
    new_team: Callable[..., Team], submit: Callable[..., str]
) -> None:
    """C03: what is paused in the queue stays out of the quota, even when room comes up."""
    team = new_team(gpus=1)
    kind = submit(team)
    team.workload_of("work-node-0")
    team.suspend(kind, "work", True)
    eventually(lambda: team.workload_of("work-node-0")["spec"]["active"] is False, "inactive")
    team.cluster.apply([cluster_queue(team.namespace, gpus=8)])
    assert_quiet(team)
    assert _reserved(team) == 0
    assert not [pod for pod in team.all("pods") if "node" in pod["metadata"]["name"]]
    team.suspend(kind, "work", False)
    team.await_condition(kind, "work", DONE[kind])


def test_c03_a_pause_as_the_step_is_admitted_settles(
    team: Team, submit: Callable[..., str]
) -> None:
    """C03: a pause between admission and the first pod ends with no pod and no quota."""
    kind = submit(team)
    eventually(lambda: team.find("jobs", "work-node-0"), "the Job is there")
    team.suspend(kind, "work", True)
    eventually(lambda: not _pods(team) and _reserved(team) == 0, "pods gone, quota back")
    assert_quiet(team)
    team.suspend(kind, "work", False)
    team.await_condition(kind, "work", DONE[kind])


def test_c03_a_pause_and_resume_within_a_second_settles(
    team: Team, submit: Callable[..., str]
) -> None:
    """C03: three quick pauses leave a parent that runs to its end."""
    kind = submit(team, train="3s")
    eventually(lambda: _running(team), "the training pod runs")
    for _ in range(3):
        team.suspend(kind, "work", True)
        team.suspend(kind, "work", False)
    team.await_condition(kind, "work", DONE[kind])
    assert list(started_before_admission(team)) == []


def test_c03_a_parent_that_is_paused_before_any_job_exists(
    team: Team, submit: Callable[..., str]
) -> None:
    """C03: paused at once, a parent makes no pod; resumed, it runs as ever."""
    kind = submit(team, download="10s")
    team.suspend(kind, "work", True)
    eventually(lambda: not team.all("pods") and _reserved(team, "cpu") == 0, "nothing runs")
    assert_quiet(team)
    team.suspend(kind, "work", False)
    team.await_condition(kind, "work", DONE[kind])


def test_changes_that_are_made_during_a_pause_reach_the_job(team: Team) -> None:
    """Labels, node selector and tolerations that come through runtimePatches are not held back."""
    _trainjob(team, train="15s")
    eventually(lambda: _running(team), "the training pod runs")
    team.suspend("trainjob", "work", True)
    eventually(lambda: not _pods(team), "pods gone")
    toleration = {"key": "spot", "operator": "Exists", "effect": "NoSchedule"}
    pod = {"nodeSelector": {"pool": "gpu"}, "tolerations": [toleration]}
    template = {"metadata": {"labels": {"attempt": "two"}}, "spec": pod}
    node = {"name": "node", "template": {"spec": {"template": template}}}
    runtime = {"template": {"spec": {"replicatedJobs": [node]}}}
    entry = {"manager": "example.com/test", "trainingRuntimeSpec": runtime}
    patch = json.dumps([{"op": "add", "path": "/spec/runtimePatches/-", "value": entry}])
    eventually(lambda: _is_patched(team, patch), "Trainer sees that no pod is active")
    team.suspend("trainjob", "work", False)
    team.await_condition("trainjob", "work", "Complete")
    stored = team.one("jobs", "work-node-0")["spec"]["template"]
    assert stored["metadata"]["labels"]["attempt"] == "two"
    assert stored["spec"]["nodeSelector"]["pool"] == "gpu"
    assert stored["spec"]["tolerations"] == [toleration]


def test_the_shipped_torchtune_runtime_can_be_paused(team: Team) -> None:
    """Trainer's re-apply of its torchtune runtime passes JobSet's immutability at each resume."""
    team.submit(
        trainjob("work", team.namespace, team.label, runtimeRef={"name": "torchtune-llama3.2-1b"})
    )
    team.await_job("work-dataset-initializer-0")
    team.suspend("trainjob", "work", True)
    eventually(lambda: team.one("jobset", "work")["spec"]["suspend"], "the JobSet is suspended")
    team.suspend("trainjob", "work", False)
    eventually(lambda: not team.one("jobset", "work")["spec"]["suspend"], "the JobSet goes on")
    team.await_condition("trainjob", "work", "Complete")


def test_deleting_a_paused_parent_leaves_nothing_behind(
    team: Team, submit: Callable[..., str]
) -> None:
    """A paused parent is deleted with its Jobs, pods and Workloads."""
    kind = submit(team)
    eventually(lambda: _running(team), "the training pod runs")
    team.suspend(kind, "work", True)
    eventually(lambda: _reserved(team) == 0, "quota back")
    team.cluster.kubectl("delete", kind, "work", "-n", team.namespace, user="alice")
    eventually(
        lambda: not [*team.all("jobs"), *team.all("pods"), *team.workloads()], "nothing is left"
    )


def _is_patched(team: Team, patch: str) -> bool:
    """Trainer refuses changes until the JobSet's status shows that nothing is active."""
    command = ("patch", "trainjob", "work", "-n", team.namespace, "--type=json", "-p", patch)
    try:
        team.cluster.kubectl(*command, user="alice")
    except KubectlError as error:
        if "still active" in error.stderr:
            return False
        raise
    return True


def assert_quiet(team: Team) -> None:
    """Nobody writes Jobs or Workloads any more: there is no quarrel."""

    def count() -> int:
        verbs = ("create", "update", "patch", "delete")
        return len(team.writes("jobs", *verbs)) + len(team.writes("workloads", *verbs))

    eventually(lambda: _still_after(count), "no more writes of Jobs and Workloads")


def _still_after(count: Callable[[], int]) -> bool:
    before = count()
    time.sleep(QUIET_SECONDS)
    return count() == before


def _pods(team: Team) -> list[Object]:
    return [pod for pod in team.all("pods") if pod["status"].get("phase") == "Running"]


def _running(team: Team) -> list[Object]:
    return [pod for pod in _pods(team) if "node" in pod["metadata"]["name"]]


def _reserved(team: Team, resource: str = GPU) -> int:
    queue = team.cluster.get("clusterqueue", team.namespace)
    flavors = queue["status"].get("flavorsReservation") or []
    totals = [r["total"] for f in flavors for r in f["resources"] if r["name"] == resource]
    return sum(int(total) for total in totals)
