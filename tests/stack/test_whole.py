"""Gangs on the real control plane: left whole, one Workload each, run to their end."""

import subprocess
from collections.abc import Callable

import pytest

from localcluster.cluster import Cluster
from tests.stack.objects import (
    Object,
    cluster_queue,
    jobset,
    named,
    step,
    training_runtime,
    trainjob,
)
from tests.stack.team import Team, submitted

GROUP = "kueue.x-k8s.io/podset-group-name"
MODE = "kueue-steps.io/mode"
HOSTNAME = "kubernetes.io/hostname"


def _grouped(name: str) -> Object:
    grouped = step(name)
    annotations = grouped["template"]["spec"]["template"]["metadata"]["annotations"]
    annotations |= {GROUP: "gang", "kueue.x-k8s.io/podset-required-topology": HOSTNAME}
    return grouped


GANGS: dict[str, tuple[list[Object], Object, str]] = {
    "several replicas": (
        [step("a") | {"replicas": 3}, step("b", "a")],
        {},
        "a step has several replicas",
    ),
    "in order": (
        [step("a"), step("b")],
        {"startupPolicy": {"startupPolicyOrder": "InOrder"}},
        "startupPolicy is InOrder",
    ),
    "side by side": ([step("a"), step("b"), step("c", "a")], {}, "steps run side by side"),
    "a step that waits for Ready": (
        [step("server", run_for="3s"), step("client", "server", status="Ready")],
        {},
        "a step waits for another to be Ready",
    ),
}


@pytest.mark.parametrize(("steps", "spec", "why"), GANGS.values(), ids=GANGS.keys())
def test_c31_a_gang_is_admitted_as_one_workload(
    team: Team, steps: list[Object], spec: Object, why: str
) -> None:
    """C31: steps that need each other are left to Kueue as a whole, and the user is told why."""
    said = submitted(team, jobset("gang", team.namespace, team.label, *steps, **spec))
    assert f"Warning: admitted whole, since {why}" in said
    assert MODE in said
    team.await_condition("jobsets", "gang", "Completed")
    assert team.one("jobsets", "gang")["metadata"]["labels"] == team.label
    (workload,) = team.workloads()
    assert len(workload["spec"]["podSets"]) == len(steps)


def test_c31_a_podset_group_stays_together(team: Team) -> None:
    """C31: pods that Kueue is to place together are one Workload, placed together, and finish."""
    _place_by_topology(team)
    gang = jobset(
        "gang", team.namespace, team.label, step("data"), _grouped("leader"), _grouped("worker")
    )
    said = submitted(team, gang)
    assert "Warning: admitted whole, since steps share a podset group" in said
    assert team.one("jobsets", "gang")["metadata"]["labels"] == team.label
    team.await_condition("jobsets", "gang", "Completed")
    (workload,) = team.workloads()
    groups = [
        p.get("topologyRequest", {}).get("podSetGroupName") for p in workload["spec"]["podSets"]
    ]
    assert groups == [None, "gang", "gang"]
    nodes = {
        pod["spec"]["nodeName"] for pod in team.all("pods") if "data" not in pod["metadata"]["name"]
    }
    assert len(nodes) == 1


def _place_by_topology(team: Team) -> None:
    """The team's queue gets a flavor whose nodes Kueue knows one by one."""
    name = team.namespace
    topology = named("Topology", "kueue.x-k8s.io/v1beta2", name, None)
    topology["spec"] = {"levels": [{"nodeLabel": HOSTNAME}]}
    flavor = named("ResourceFlavor", "kueue.x-k8s.io/v1beta2", name, None)
    flavor["spec"] = {"nodeLabels": {"pool": "gpu"}, "topologyName": name}
    queue = cluster_queue(name)
    queue["spec"]["resourceGroups"][0]["flavors"][0]["name"] = name
    team.cluster.apply([topology, flavor, queue])


def test_a_single_step_is_left_whole_without_a_word(team: Team) -> None:
    """Where there is nothing to gain, nothing changes and nobody is warned."""
    assert "Warning" not in submitted(team, jobset("one", team.namespace, team.label, step("a")))
    team.await_condition("jobsets", "one", "Completed")
    assert team.one("jobsets", "one")["metadata"]["labels"] == team.label


def _mpi(team: Team, name: str, *, nodes: int) -> Object:
    return trainjob(
        name,
        team.namespace,
        team.label,
        runtimeRef={"name": "deepspeed-distributed"},
        trainer={
            "numNodes": nodes,
            "resourcesPerNode": {
                "requests": {"nvidia.com/gpu": "2"},
                "limits": {"nvidia.com/gpu": "2"},
            },
        },
    )


def test_an_mpi_trainjob_on_trainers_own_runtime_runs_whole(team: Team) -> None:
    """Trainer's deepspeed runtime, whose launcher waits for its nodes, is one Workload."""
    said = submitted(team, _mpi(team, "mpi", nodes=2))
    assert "Warning: admitted whole, since a step waits for another to be Ready" in said
    team.await_condition("trainjobs", "mpi", "Complete")
    assert team.one("trainjobs", "mpi")["metadata"]["labels"] == team.label
    assert len(team.workloads()) == 1


def test_two_gangs_on_a_queue_for_one_and_a_half_never_wait_for_each_other(
    new_team: Callable[..., Team],
) -> None:
    """Admitted in parts, two MPI jobs could each hold half of the quota for ever."""
    team = new_team(gpus=6)
    for name in ("one", "two"):
        submitted(team, _mpi(team, name, nodes=2))
    for name in ("one", "two"):
        team.await_condition("trainjobs", name, "Complete")


@pytest.mark.parametrize(("mode", "workloads"), [("step", 2), ("whole", 1)])
def test_the_user_decides_by_annotation(team: Team, mode: str, workloads: int) -> None:
    """`mode: step` and `mode: whole` override what auto would choose."""
    shapes = {
        "step": [step("a"), step("b")],
        "whole": [step("a"), step("b", "a")],
    }
    chosen = jobset("chosen", team.namespace, team.label, *shapes[mode])
    chosen["metadata"]["annotations"] = {MODE: mode}
    submitted(team, chosen)
    team.await_condition("jobsets", "chosen", "Completed")
    assert len(team.workloads()) == workloads


def test_steps_wait_in_the_queues_that_the_annotation_names(
    new_team: Callable[..., Team], cluster: Cluster
) -> None:
    """Downloads queue for CPUs while only the training queues for GPUs, in another ClusterQueue."""
    gpus, cpus = new_team(gpus=8), new_team(gpus=0)
    queue = named("LocalQueue", "kueue.x-k8s.io/v1beta2", "cpu", gpus.namespace)
    queue["spec"] = {"clusterQueue": cpus.namespace}
    runtime = training_runtime("steps", gpus.namespace, gpus=8, download="1s", train="1s")
    gpus.apply([queue, runtime])
    tune = trainjob("tune", gpus.namespace, gpus.label)
    names = ("dataset-initializer", "model-initializer")
    queues = ",".join(f"{name}=cpu" for name in names)
    tune["metadata"]["annotations"] = {"kueue-steps.io/step-queues": queues}
    submitted(gpus, tune)
    gpus.await_condition("trainjobs", "tune", "Complete")
    where = {
        item["metadata"]["ownerReferences"][0]["name"]: item["status"]["admission"]["clusterQueue"]
        for item in gpus.workloads()
    }
    assert where == {
        "tune-dataset-initializer-0": cpus.namespace,
        "tune-model-initializer-0": cpus.namespace,
        "tune-node-0": gpus.namespace,
    }


def test_c06_a_runtimes_own_queue_for_its_downloads_may_lead_to_another_clusterqueue(
    new_team: Callable[..., Team],
) -> None:
    """C06: what the runtime's template names wins, without a word from the user."""
    gpus, cpus = new_team(gpus=8), new_team(gpus=0)
    queue = named("LocalQueue", "kueue.x-k8s.io/v1beta2", "cpu", gpus.namespace)
    queue["spec"] = {"clusterQueue": cpus.namespace}
    runtime = training_runtime("steps", gpus.namespace, gpus=8, download="1s", train="1s")
    for one in runtime["spec"]["template"]["spec"]["replicatedJobs"]:
        if one["name"] != "node":
            one["template"]["metadata"]["labels"] |= {"kueue.x-k8s.io/queue-name": "cpu"}
    gpus.apply([queue, runtime])
    submitted(gpus, trainjob("tune", gpus.namespace, gpus.label))
    gpus.await_condition("trainjobs", "tune", "Complete")
    assert sorted(w["status"]["admission"]["clusterQueue"] for w in gpus.workloads()) == sorted(
        [cpus.namespace, cpus.namespace, gpus.namespace]
    )


def test_a_step_that_there_is_not_is_refused_with_those_that_there_are(team: Team) -> None:
    """A wrong name in the annotation is denied, naming the steps."""
    wrong = jobset("wrong", team.namespace, team.label, step("a"), step("b", "a"))
    wrong["metadata"]["annotations"] = {"kueue-steps.io/step-queues": "c=gpu"}
    with pytest.raises(subprocess.CalledProcessError) as refusal:
        submitted(team, wrong)
    assert "there is no step 'c'; the steps are a, b" in refusal.value.stderr
