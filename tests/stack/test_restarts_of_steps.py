"""JobSet makes Jobs anew, ends early or cleans up: each Job is a step of its own."""

from collections.abc import Iterable
from typing import Any

from localcluster.kwok import FAIL
from tests.stack.endings import end_the_pod
from tests.stack.objects import QUEUE, STEP_QUEUE, Object, jobset, step
from tests.stack.team import (
    Team,
    conditions,
    eventually,
    is_suspended,
    reason_of,
    started_before_admission,
)

MODE = "kueue-steps.io/mode"
JOB_UID = "kueue.x-k8s.io/job-uid"


def test_c29_a_restart_makes_new_jobs_that_are_held_anew(team: Team) -> None:
    """C29: after a failure every Job is made anew, held anew, and has a new Workload."""
    team.submit(_pipeline(team, _only_once(gpus=8, run_for="60s"), maxRestarts=1))
    team.await_running("tune-train-0")
    first = _by_name(team.all("jobs"))
    before = {_uid(item) for item in team.workloads()}
    end_the_pod(team, "tune-train-0", failed=True)
    eventually(lambda: _uid(team.await_job("tune-a-0")) != first["tune-a-0"], "a new Job a")
    end_the_pod(team, "tune-train-0")
    team.await_condition("jobsets", "tune", "Completed")
    assert team.one("jobsets", "tune")["status"]["restarts"] == 1
    second = {item["metadata"]["name"]: item for item in team.all("jobs")}
    assert second.keys() == first.keys()
    for name, item in second.items():
        labels = item["metadata"]["labels"]
        assert (labels[QUEUE], labels[STEP_QUEUE]) == ("gpu", "gpu")
        assert _uid(item) != first[name]
        assert _uid(team.workload_of(name)) not in before
    assert len(team.workloads()) == 2
    assert _created(team) == 4
    assert _answers_to_creates(team) == {"Held"}
    assert list(started_before_admission(team)) == []


def test_c29_a_restarted_step_waits_for_quota_that_others_took(team: Team) -> None:
    """C29: a restart gives the place in the queue up: who waited before goes first."""
    team.submit(_pipeline(team, _only_once(gpus=8, run_for="60s"), maxRestarts=1))
    team.await_running("tune-train-0")
    first = team.uids("tune-train-0")
    other = step("train", gpus=8, run_for="5m")
    team.submit(jobset("other", team.namespace, team.label, step("a"), _after(other)))
    team.workload_of("other-train-0")
    end_the_pod(team, "tune-train-0", failed=True)
    team.await_running("other-train-0")
    eventually(
        lambda: _uid(team.await_job("tune-train-0")) not in first.values(), "a new Job train"
    )
    assert "Admitted" not in conditions(team.workload_of("tune-train-0"))
    assert is_suspended(team.one("jobs", "tune-train-0"))
    end_the_pod(team, "other-train-0")
    team.await_condition("jobsets", "other", "Completed")
    end_the_pod(team, "tune-train-0")
    team.await_condition("jobsets", "tune", "Completed")


def test_c29_restarts_that_are_used_up_leave_nothing_running(team: Team) -> None:
    """C29: a step that fails each time fails the JobSet, and its quota is free again."""
    failing = _only_once(gpus=8, run_for="1s")
    failing["template"]["spec"]["template"]["metadata"]["annotations"][FAIL] = "true"
    team.submit(_pipeline(team, failing, maxRestarts=1))
    team.await_condition("jobsets", "tune", "Failed")
    assert _created(team) == 4
    eventually(lambda: len(team.workloads()) == 2, "the Workloads of the last round alone")
    eventually(
        lambda: reason_of(team.workload_of("tune-train-0"), "Finished") == "Failed",
        "the Workload of the failed step has failed",
    )
    eventually(lambda: team.reserved() == 0, "no quota is reserved")


def test_a_pod_that_fails_is_tried_again_under_the_same_admission(team: Team) -> None:
    """Within a Job's backoffLimit its next Pod runs on the quota that the step has."""
    patient = step("train", gpus=8, run_for="60s")
    patient["template"]["spec"]["backoffLimit"] = 1
    team.submit(_pipeline(team, patient))
    end_the_pod(team, "tune-train-0", failed=True)
    before = team.workload_of("tune-train-0")
    end_the_pod(team, "tune-train-0")
    team.await_condition("jobsets", "tune", "Completed")
    after = team.workload_of("tune-train-0")
    assert _uid(after) == _uid(before)
    assert after["status"]["admission"] == before["status"]["admission"]
    assert "Evicted" not in {item["type"] for item in after["status"]["conditions"]}
    phases = sorted(pod["status"]["phase"] for pod in team.pods_of("tune-train-0"))
    assert phases == ["Failed", "Succeeded"]


def test_a_jobset_that_succeeds_early_takes_its_held_job_with_it(team: Team) -> None:
    """C29: if successPolicy is met while a Job is held, that Job and its Workload are deleted."""
    team.submit(
        _stepped(
            team,
            step("short", run_for="5m"),
            step("long", gpus=9),
            successPolicy={"operator": "All", "targetReplicatedJobs": ["short"]},
        )
    )
    team.workload_of("tune-long-0")
    assert is_suspended(team.one("jobs", "tune-long-0"))
    end_the_pod(team, "tune-short-0")
    team.await_condition("jobsets", "tune", "Completed")
    eventually(lambda: team.find("jobs", "tune-long-0") is None, "the held Job is gone")
    eventually(lambda: len(team.workloads()) == 1, "its Workload is gone")
    assert team.pods_of("tune-long-0") == []
    # JobSet may ask again before it sees what its first delete has done.
    codes = {write.code for write in team.writes("jobs", "delete", "deletecollection")}
    assert codes - {404} == {200}


def test_a_jobset_with_a_time_to_live_leaves_nothing(team: Team) -> None:
    """A JobSet's ttlSecondsAfterFinished takes Jobs, Pods and Workloads of all steps away."""
    team.submit(_pipeline(team, step("train", gpus=8, run_for="1s"), ttlSecondsAfterFinished=1))
    eventually(lambda: _created(team) == 2, "both Jobs are made")
    eventually(lambda: team.find("jobsets", "tune") is None, "the JobSet is gone")
    for kind in ("jobs", "pods", "workloads.kueue.x-k8s.io"):
        eventually(lambda kind=kind: team.all(kind) == [], f"no {kind} are left")  # type: ignore[misc]


def test_the_last_job_with_a_time_to_live_goes_alone(team: Team) -> None:
    """The last step's ttlSecondsAfterFinished takes that Job and its Workload, nothing else."""
    passing = step("train", gpus=8, run_for="1s")
    passing["template"]["spec"]["ttlSecondsAfterFinished"] = 5
    team.submit(_pipeline(team, passing))
    team.await_condition("jobsets", "tune", "Completed")
    eventually(lambda: team.find("jobs", "tune-train-0") is None, "the Job is gone")
    eventually(lambda: len(team.workloads()) == 1, "its Workload is gone")
    assert _created(team) == 2


def test_a_job_that_its_time_to_live_ends_too_soon_is_a_new_step(team: Team) -> None:
    """JobSet makes a deleted first Job anew while a later one runs: it is held and queued anew.

    That a finished step runs again is JobSet's way (v0.12.0, with Kueue or without).
    """
    passing = step("a", run_for="1s")
    passing["template"]["spec"]["ttlSecondsAfterFinished"] = 3
    train = _after(step("train", gpus=8, run_for="5m"))
    team.submit(jobset("tune", team.namespace, team.label, passing, train))
    first = _uid(team.await_job("tune-a-0"))
    eventually(lambda: _uid(team.await_job("tune-a-0")) != first, "a new Job a")
    again = team.workload_of("tune-a-0")
    assert again["metadata"]["labels"][JOB_UID] != first
    assert _answers_to_creates(team) == {"Held"}
    end_the_pod(team, "tune-train-0")
    team.await_condition("jobsets", "tune", "Completed")
    assert list(started_before_admission(team)) == []


def _pipeline(team: Team, train: Object, *, maxRestarts: int | None = None, **spec: Any) -> Object:  # noqa: N803
    """One second of preparation, then the training step."""
    if maxRestarts is not None:
        spec["failurePolicy"] = {"maxRestarts": maxRestarts}
    return jobset(
        "tune", team.namespace, team.label, step("a", run_for="1s"), _after(train), **spec
    )


def _stepped(team: Team, *steps: Object, **spec: Any) -> Object:
    """A JobSet whose steps run side by side, and that asks to be stepped nevertheless."""
    made = jobset("tune", team.namespace, team.label, *steps, **spec)
    made["metadata"]["annotations"] = {MODE: "step"}
    return made


def _after(later: Object) -> Object:
    return later | {"dependsOn": [{"name": "a", "status": "Complete"}]}


def _only_once(**pods: Any) -> Object:
    """A training step whose Job fails with its first Pod."""
    once = step("train", **pods)
    once["template"]["spec"]["backoffLimit"] = 0
    return once


def _created(team: Team) -> int:
    """How many Jobs were created; JobSet also tries while the old one of the name still goes."""
    return sum(write.code == 201 for write in team.writes("jobs", "create"))


def _answers_to_creates(team: Team) -> set[str]:
    """Why each create of a Job was answered as it was."""
    return {
        review["reason"]
        for review in team.reviews()
        if (review["resource"], review["operation"]) == ("jobs", "CREATE")
    }


def _by_name(items: Iterable[Object]) -> dict[str, str]:
    return {item["metadata"]["name"]: _uid(item) for item in items}


def _uid(item: Object) -> str:
    uid: str = item["metadata"]["uid"]
    return uid
