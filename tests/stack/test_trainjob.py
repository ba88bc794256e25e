"""TrainJobs on the real control plane: admitted step by step, submitted as ever."""

import json
from collections import Counter
from collections.abc import Callable

from localcluster.errors import KubectlError
from tests.stack.endings import end_the_pod
from tests.stack.objects import (
    GPU,
    PRIORITY,
    QUEUE,
    STEP_QUEUE,
    job,
    local_queue,
    named,
    training_runtime,
    trainjob,
)
from tests.stack.team import (
    Team,
    condition_time,
    conditions,
    eventually,
    started_before_admission,
)
from tests.stack.writes_of_jobs import JOBSET

FIRST, SECOND = "dataset-initializer", "model-initializer"


def _with_runtime(team: Team, **times: str) -> Team:
    times = {"download": "2s", "train": "2s"} | times
    team.apply([training_runtime("steps", team.namespace, gpus=8, **times)])
    return team


def test_c05_each_step_is_admitted_when_its_turn_comes(team: Team) -> None:
    """C05: the GPUs of a TrainJob are reserved only after both downloads are complete."""
    _with_runtime(team)
    team.submit(trainjob("tune", team.namespace, team.label))
    team.await_condition("trainjobs", "tune", "Complete")
    workloads = {step: team.workload_of(f"tune-{step}-0") for step in (FIRST, SECOND, "node")}
    assert len(team.workloads()) == 3
    reserved = condition_time(workloads["node"], "QuotaReserved")
    for step in (FIRST, SECOND):
        assert condition_time(team.one("jobs", f"tune-{step}-0"), "Complete") <= reserved
        assert GPU not in workloads[step]["status"]["admission"]["podSetAssignments"][0]["flavors"]
    assert list(started_before_admission(team)) == []


def test_c05_the_queue_leaves_the_parents_and_reaches_every_step(team: Team) -> None:
    """C05: TrainJob and JobSet are stored without Kueue's label, each Job with it."""
    _with_runtime(team)
    team.submit(trainjob("tune", team.namespace, team.label))
    team.await_job(f"tune-{FIRST}-0")
    for kind in ("trainjobs", "jobsets"):
        labels = team.one(kind, "tune")["metadata"]["labels"]
        assert labels[STEP_QUEUE] == "gpu"
        assert QUEUE not in labels
    for step in team.one("jobsets", "tune")["spec"]["replicatedJobs"]:
        labels = step["template"]["metadata"]["labels"]
        assert (labels[QUEUE], labels[STEP_QUEUE]) == ("gpu", "gpu")


def test_c05_another_gpu_job_runs_while_a_trainjob_downloads(team: Team) -> None:
    """C05: GPUs that would stand reserved for a download do another team member's work."""
    _with_runtime(team, download="5m")
    other = job("other", team.namespace, team.label)
    other["spec"]["template"]["spec"]["containers"][0]["resources"] = {
        "requests": {GPU: "8"},
        "limits": {GPU: "8"},
    }
    team.submit(trainjob("tune", team.namespace, team.label))
    team.await_job(f"tune-{FIRST}-0")
    team.submit(other)
    team.await_condition("jobs", "other", "Complete")
    assert "Complete" not in conditions(team.one("jobs", f"tune-{FIRST}-0"))
    for step in (FIRST, SECOND):
        end_the_pod(team, f"tune-{step}-0")
    team.await_condition("trainjobs", "tune", "Complete")


def test_calls_for_a_three_step_trainjob_stay_few(team: Team) -> None:
    """A review for each create, one or two for each attempt of JobSet, none for Kueue's own starts.

    The second one is the API server's, which looks again where its cache was behind.
    """
    _with_runtime(team)
    team.submit(trainjob("tune", team.namespace, team.label))
    team.await_condition("trainjobs", "tune", "Complete")
    reviews = team.reviews()
    of_jobs = Counter(item["operation"] for item in reviews if item["resource"] == "jobs")
    assert len(reviews) - of_jobs.total() == 2
    assert of_jobs["CREATE"] == len(team.writes("jobs", "create"))
    attempts = [write for write in team.writes("jobs", "update") if write.user == JOBSET]
    assert of_jobs["UPDATE"] <= 2 * len(attempts)
    assert len(attempts) <= 40  # An unbounded quarrel makes hundreds.
    assert not [review for review in reviews if "kueue-controller-manager" in review["user"]]
    assert {review["decision"] for review in reviews} == {"patched"}


def test_the_shipped_torchtune_runtime_runs_step_by_step(team: Team) -> None:
    """Trainer's own torchtune runtime, as shipped with its volume, is admitted step by step."""
    team.submit(
        trainjob(
            "tune",
            team.namespace,
            team.label,
            runtimeRef={"name": "torchtune-llama3.2-1b"},
            initializer={
                "dataset": {"storageUri": "hf://tatsu-lab/alpaca"},
                "model": {"storageUri": "hf://meta-llama/Llama-3.2-1B-Instruct"},
            },
        )
    )
    team.await_condition("trainjobs", "tune", "Complete")
    assert len(team.workloads()) == 3
    assert list(started_before_admission(team)) == []


def test_c06_what_the_steps_inherit_from_the_trainjob(team: Team) -> None:
    """C06: queue, priority and time limit reach the Jobs, a runtime's own queue wins, no more."""
    runtime = training_runtime("steps", team.namespace, gpus=8, download="2s", train="2s")
    dataset, *_others = runtime["spec"]["template"]["spec"]["replicatedJobs"]
    dataset["template"]["metadata"]["labels"][QUEUE] = "cpu"
    priority = named(
        "WorkloadPriorityClass", "kueue.x-k8s.io/v1beta2", f"low-{team.namespace}", None
    ) | {"value": 10}
    team.apply([runtime, local_queue("cpu", team.namespace, team.namespace), priority])
    limits = {PRIORITY: priority["metadata"]["name"], "kueue.x-k8s.io/max-exec-time-seconds": "600"}
    labels = team.label | limits | {"team": "research"}
    team.submit(trainjob("tune", team.namespace, labels))
    queues = {FIRST: "cpu", SECOND: "gpu", "node": "gpu"}
    for step, queue in queues.items():
        found = team.await_job(f"tune-{step}-0")["metadata"]["labels"]
        assert found[QUEUE] == found[STEP_QUEUE] == queue
        assert {key: found[key] for key in limits} == limits
        assert "team" not in found
    assert team.workload_of("tune-node-0")["spec"]["priorityClassRef"]["name"] == limits[PRIORITY]
    team.await_condition("trainjobs", "tune", "Complete")


def test_c09_a_manifest_that_says_suspend_runs_and_may_come_again(team: Team) -> None:
    """C09: a manifest that says `suspend: true` is queued, and may be applied again."""
    _with_runtime(team, download="3s")
    manifest = trainjob("tune", team.namespace, team.label, suspend=True)
    _apply(team, manifest)
    jobset = eventually(lambda: team.find("jobsets", "tune"), "JobSet tune")
    before = team.one("trainjobs", "tune")
    assert before["spec"]["suspend"] is False
    assert not jobset["spec"].get("suspend")
    _apply(team, manifest)
    after = team.one("trainjobs", "tune")
    assert after["spec"] == before["spec"]
    assert QUEUE not in after["metadata"]["labels"]
    team.await_condition("trainjobs", "tune", "Complete")


def test_c09_trainers_own_re_apply_leaves_the_steps_as_they_were(team: Team) -> None:
    """C09: Trainer applies the JobSet again at pause and resume; our labels stay."""
    _with_runtime(team, train="5m")
    team.submit(trainjob("tune", team.namespace, team.label))
    team.await_running("tune-node-0")
    steps = team.one("jobsets", "tune")["spec"]["replicatedJobs"]
    team.suspend("trainjob", "tune", True)
    eventually(lambda: team.one("jobsets", "tune")["spec"]["suspend"], "the JobSet is suspended")
    eventually(lambda: team.one("jobs", "tune-node-0")["spec"]["suspend"], "the Job is suspended")
    eventually(lambda: team.running_pod("tune-node-0") is None, "its Pod is gone")
    assert _labels(team.one("jobsets", "tune")["spec"]["replicatedJobs"]) == _labels(steps)
    team.suspend("trainjob", "tune", False)
    end_the_pod(team, "tune-node-0")
    team.await_condition("trainjobs", "tune", "Complete")
    assert team.one("jobsets", "tune")["spec"]["replicatedJobs"] == steps


def test_c19_a_stepped_trainjob_says_why_it_cannot_change_its_queue(team: Team) -> None:
    """C19: another queue on a stepped TrainJob is refused, with the field and the way out."""
    _with_runtime(team)
    team.submit(trainjob("tune", team.namespace, team.label))
    refusal = _refusal(
        lambda: team.cluster.kubectl(
            *("label", "trainjob", "tune", "-n", team.namespace), f"{QUEUE}=other", user="alice"
        )
    )
    assert f"metadata.labels[{QUEUE}]" in refusal
    assert "delete the object and create it again" in refusal


def _apply(team: Team, manifest: dict[str, object]) -> None:
    team.cluster.kubectl("apply", "-f", "-", stdin=json.dumps(manifest), user="alice")


def _labels(steps: list[dict[str, dict[str, dict[str, object]]]]) -> list[object]:
    return [step["template"]["metadata"]["labels"] for step in steps]


def _refusal(call: Callable[[], object]) -> str:
    try:
        call()
    except KubectlError as error:
        return str(error)
    raise AssertionError("the API server took it")
