"""Kueue takes an admission away: the step stops, waits again, and finishes later."""

import json
from collections.abc import Callable
from typing import Any

from tests.stack.objects import (
    FLAVOR,
    PAUSED,
    PRIORITY,
    Object,
    cluster_queue,
    jobset,
    named,
    step,
    training_runtime,
    trainjob,
)
from tests.stack.team import Team, conditions, eventually, ever_true, is_suspended

MIN_PARALLELISM = "kueue.x-k8s.io/job-min-parallelism"
MAX_EXEC = "kueue.x-k8s.io/max-exec-time-seconds"
COMPANION = "system:serviceaccount:kueue-steps-system:kueue-steps"
KUEUE = "kueue.x-k8s.io/v1beta2"


def test_a_more_important_trainjob_preempts_the_running_step(team: Team) -> None:
    """The preempted training step stops and waits, its downloads stay done, and it ends later."""
    runtime = training_runtime("steps", team.namespace, gpus=8, download="1s", train="15s")
    _reconfigure(team, preemption={"withinClusterQueue": "LowerPriority"})
    low, high = (_priority(team, name, value) for name, value in (("low", 1), ("high", 100)))
    team.apply([runtime, low, high])
    team.submit(trainjob("tune", team.namespace, team.label | _of_priority(low)))
    team.await_job("tune-model-initializer-0")
    downloads = team.uids("tune-dataset-initializer-0", "tune-model-initializer-0")
    urgent = step("train", gpus=8, run_for="10s")
    team.await_running("tune-node-0")
    labels = team.label | _of_priority(high)
    team.submit(jobset("urgent", team.namespace, labels, urgent, step("b", "train")))
    team.await_evicted("tune-node-0", "Preempted")
    team.await_running("urgent-train-0")
    assert is_suspended(team.one("jobs", "tune-node-0"))
    team.await_condition("jobsets", "urgent", "Completed")
    team.await_condition("trainjobs", "tune", "Complete")
    assert team.uids(*downloads) == downloads


def test_what_a_person_makes_inactive_only_a_person_makes_active(team: Team) -> None:
    """A step whose Workload a person made inactive stops and stays so until he takes it back."""
    _submit_training(team, run_for="15s")
    team.await_running("tune-train-0")
    _set_active(team, "tune-train-0", active=False)
    _await_stopped(team, "tune-train-0")
    for poke in range(3):
        _attempt(team, poke)
    workload = team.workload_of("tune-train-0")
    assert workload["spec"]["active"] is False
    assert PAUSED not in workload["metadata"].get("annotations", {})
    assert is_suspended(team.one("jobs", "tune-train-0"))
    assert [w for w in team.writes("workloads", "patch", "update") if w.user == COMPANION] == []
    _set_active(team, "tune-train-0", active=True)
    team.await_condition("jobsets", "tune", "Completed")


def test_a_queue_that_is_drained_stops_the_step_until_it_opens_again(team: Team) -> None:
    """HoldAndDrain stops the running step, and the step goes on when the queue is open again."""
    _submit_training(team, run_for="15s")
    team.await_running("tune-train-0")
    _reconfigure(team, stopPolicy="HoldAndDrain")
    team.await_evicted("tune-train-0", "ClusterQueueStopped")
    _await_stopped(team, "tune-train-0")
    _attempt(team, 0)
    assert is_suspended(team.one("jobs", "tune-train-0"))
    _reconfigure(team, stopPolicy="None")
    team.await_condition("jobsets", "tune", "Completed")


def test_a_step_that_runs_too_long_is_stopped_for_good(team: Team) -> None:
    """max-exec-time-seconds on a TrainJob ends the step that exceeds it, and only that one.

    Kueue makes its Workload inactive, and nobody makes it active again: the TrainJob waits.
    """
    team.apply([training_runtime("steps", team.namespace, gpus=8, download="1s", train="60s")])
    team.submit(trainjob("tune", team.namespace, team.label | {MAX_EXEC: "20"}))
    team.await_running("tune-node-0")
    reason = "DeactivatedDueToMaximumExecutionTimeExceeded"
    workload = team.await_evicted("tune-node-0", reason)
    _await_stopped(team, "tune-node-0")
    _attempt(team, 0)
    assert workload["spec"]["maximumExecutionTimeSeconds"] == 20
    assert team.workload_of("tune-node-0")["spec"]["active"] is False
    assert is_suspended(team.one("jobs", "tune-node-0"))
    assert {"Complete", "Failed"}.isdisjoint(conditions(team.one("trainjobs", "tune")))
    for download in ("tune-dataset-initializer-0", "tune-model-initializer-0"):
        assert "Evicted" not in ever_true(team.workload_of(download))


def test_a_flavors_node_selector_comes_with_the_start_and_goes_with_the_stop(team: Team) -> None:
    """Kueue's flavor puts its nodes' label on the pods; JobSet's attempts do not keep it there."""
    name = f"pool-{team.namespace}"
    pool = {"metadata": {"name": name}, "spec": {"nodeLabels": {"pool": "gpu"}}}
    team.cluster.apply([FLAVOR | pool])
    _reconfigure(team, flavor=name)
    _submit_training(team, run_for="15s")
    team.await_running("tune-train-0")
    assert _node_selector(team) == {"pool": "gpu"}
    (pod,) = team.pods_of("tune-train-0")
    assert pod["spec"]["nodeSelector"] == {"pool": "gpu"}
    _set_active(team, "tune-train-0", active=False)
    _await_stopped(team, "tune-train-0")
    eventually(lambda: _node_selector(team) == {}, "the node selector is gone")
    _attempt(team, 0)
    assert _node_selector(team) == {}
    _set_active(team, "tune-train-0", active=True)
    team.await_running("tune-train-0")
    assert _node_selector(team) == {"pool": "gpu"}
    team.await_condition("jobsets", "tune", "Completed")


def test_c12_a_step_is_admitted_in_part(new_team: Callable[..., Team]) -> None:
    """C12: with job-min-parallelism a step of four pods runs as two, and as four once it may."""
    team = new_team(gpus=2)
    team.submit(jobset("tune", team.namespace, team.label, step("a"), _after(_elastic("train"))))
    team.await_running("tune-train-0")
    assert team.one("jobs", "tune-train-0")["spec"]["parallelism"] == 2
    eventually(lambda: team.one("jobs", "tune-train-0")["status"].get("active") == 2, "two pods")
    assert len(team.pods_of("tune-train-0")) == 2
    _set_active(team, "tune-train-0", active=False)
    _await_stopped(team, "tune-train-0")
    eventually(lambda: team.one("jobs", "tune-train-0")["spec"]["parallelism"] == 4, "its own size")
    team.cluster.apply([cluster_queue(team.namespace, gpus=4)])
    eventually(lambda: _is_followed(team), "Kueue knows the new quota")
    _set_active(team, "tune-train-0", active=True)
    team.await_running("tune-train-0")
    assert team.one("jobs", "tune-train-0")["spec"]["parallelism"] == 4
    team.await_condition("jobsets", "tune", "Completed")
    assert team.one("jobs", "tune-train-0")["status"]["succeeded"] == 4


def test_c12_annotations_of_the_parents_are_their_own(new_team: Callable[..., Team]) -> None:
    """C12: job-min-parallelism on a TrainJob or JobSet never reaches a Job.

    Kueue's own webhook refuses its elastic-job annotation there.
    """
    team = new_team(gpus=1)
    team.apply([training_runtime("steps", team.namespace, gpus=1, download="1s", train="1s")])
    parents = (
        trainjob("tune", team.namespace, team.label),
        jobset("pipeline", team.namespace, team.label, step("a"), step("b", "a")),
    )
    for parent in parents:
        parent["metadata"]["annotations"] = {MIN_PARALLELISM: "1"}
    team.submit(*parents)
    team.await_condition("trainjobs", "tune", "Complete")
    team.await_condition("jobsets", "pipeline", "Completed")
    jobs = team.all("jobs")
    assert len(jobs) == 5
    for item in jobs:
        assert MIN_PARALLELISM not in item["metadata"].get("annotations", {})


def _submit_training(team: Team, *, run_for: str) -> None:
    train = step("train", gpus=8, run_for=run_for)
    team.submit(jobset("tune", team.namespace, team.label, step("a"), _after(train)))


def _after(later: Object) -> Object:
    return later | {"dependsOn": [{"name": "a", "status": "Complete"}]}


def _elastic(name: str) -> Object:
    """A step of four pods with a GPU each that would start with two."""
    elastic = step(name, gpus=1, run_for="15s")
    elastic["template"]["spec"] |= {"parallelism": 4, "completions": 4}
    elastic["template"]["metadata"] = {"annotations": {MIN_PARALLELISM: "2"}}
    return elastic


def _priority(team: Team, name: str, value: int) -> Object:
    head = named("WorkloadPriorityClass", KUEUE, f"{name}-{team.namespace}", None)
    return head | {"value": value}


def _of_priority(priority: Object) -> dict[str, str]:
    return {PRIORITY: priority["metadata"]["name"]}


def _reconfigure(team: Team, *, flavor: str = "default", **spec: Any) -> None:
    """Give the team's ClusterQueue other settings."""
    queue = cluster_queue(team.namespace)
    queue["spec"] |= spec
    queue["spec"]["resourceGroups"][0]["flavors"][0]["name"] = flavor
    team.cluster.apply([queue])


def _is_followed(team: Team) -> bool:
    """Has Kueue taken up the ClusterQueue as it is now?"""
    queue = team.cluster.get("clusterqueue", team.namespace)
    seen = {one["type"]: one["observedGeneration"] for one in queue["status"]["conditions"]}
    return bool(seen["Active"] == queue["metadata"]["generation"])


def _await_stopped(team: Team, job: str) -> None:
    """Suspended, without pods, and its quota given back."""
    eventually(lambda: is_suspended(team.one("jobs", job)), f"{job} is suspended")
    eventually(lambda: not team.pods_of(job), f"{job} has no pods")
    eventually(lambda: "Admitted" not in conditions(team.workload_of(job)), "the quota is back")


def _attempt(team: Team, number: int) -> None:
    """Makes JobSet reconcile, seen through an attempt to resume its Job."""
    before = len(team.writes("jobs", "update"))
    team.cluster.kubectl(
        *("annotate", "jobset", "tune", "-n", team.namespace, "--overwrite", f"poke={number}")
    )
    eventually(lambda: len(team.writes("jobs", "update")) > before, "an attempt of JobSet")


def _set_active(team: Team, job: str, *, active: bool) -> None:
    name = team.workload_of(job)["metadata"]["name"]
    patch = json.dumps({"spec": {"active": active}})
    team.cluster.kubectl(
        *("patch", "workloads.kueue.x-k8s.io", name, "-n", team.namespace),
        *("--type=merge", "-p", patch),
    )


def _node_selector(team: Team) -> dict[str, str]:
    template = team.one("jobs", "tune-train-0")["spec"]["template"]
    selector: dict[str, str] = template["spec"].get("nodeSelector") or {}
    return selector
