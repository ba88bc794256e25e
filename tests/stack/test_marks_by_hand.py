"""Marks that somebody writes where we did not put them, on the real control plane."""

import subprocess

import pytest

from tests.rules.factories import MODE, PODSET_GROUP, PREBUILT
from tests.stack.endings import end_the_pod
from tests.stack.objects import QUEUE, STEP_QUEUE, jobset, step, training_runtime, trainjob
from tests.stack.steps_command import quota
from tests.stack.team import Team, eventually, ran, submitted

TOPOLOGY = "kueue.x-k8s.io/podset-required-topology"


def test_kueue_stops_and_starts_a_whole_trainjob_that_got_our_label(team: Team) -> None:
    """Beside Kueue's label it counts for nothing, also in the updates that follow."""
    team.apply([training_runtime("steps", team.namespace, gpus=8, download="1s", train="5m")])
    whole = trainjob("tune", team.namespace, team.label)
    whole["metadata"]["annotations"] = {MODE: "whole"}
    team.submit(whole)
    eventually(lambda: team.reserved() == 8, "it is admitted")
    assert _labelled(team, "trainjob", "tune").returncode == 0
    quota(team, stopPolicy="HoldAndDrain")
    eventually(lambda: team.reserved() == 0, "it is evicted")
    eventually(lambda: team.one("trainjobs", "tune")["spec"]["suspend"], "it is suspended")
    eventually(lambda: team.running_pod("tune-node-0") is None, "no Pod of it runs")
    quota(team, stopPolicy="None")
    end_the_pod(team, "tune-node-0")
    found = team.await_condition("trainjobs", "tune", "Complete")
    assert found["metadata"]["labels"] == {QUEUE: "gpu", STEP_QUEUE: "gpu"}


@pytest.mark.parametrize("kind", ["trainjob", "jobset"])
def test_what_was_created_without_a_queue_does_not_look_stepped_later(
    team: Team, kind: str
) -> None:
    """It runs, and no label of ours says that it was admitted."""
    team.apply([training_runtime("steps", team.namespace, gpus=1, download="1s", train="9s")])
    made = {
        "trainjob": trainjob("tune", team.namespace, {}),
        "jobset": jobset("tune", team.namespace, {}, step("a", run_for="9s"), step("b", "a")),
    }
    team.submit(made[kind])
    refused = _labelled(team, kind, "tune")
    assert refused.returncode != 0
    assert f"delete the object and create it with {QUEUE} in its place" in refused.stderr


def test_a_runtime_patch_takes_no_step_out_of_its_queue(team: Team) -> None:
    """A prebuilt Workload that Trainer writes on the JobSet of a stepped TrainJob."""
    team.apply([training_runtime("steps", team.namespace, gpus=1, download="1s", train="1s")])
    template = {"metadata": {"labels": {PREBUILT: "none"}, "annotations": {PREBUILT: "none"}}}
    patch = {"manager": "example.com/test", "trainingRuntimeSpec": {"template": template}}
    team.submit(trainjob("tune", team.namespace, team.label, runtimePatches=[patch]))
    team.await_condition("trainjobs", "tune", "Complete")
    made = team.one("jobsets", "tune")
    assert made["metadata"]["labels"][PREBUILT] == "none"
    assert len(team.workloads()) == len(made["spec"]["replicatedJobs"]) == 3


def test_pods_that_a_runtime_patch_places_together_stay_whole(team: Team) -> None:
    """C31: one Workload, as Kueue can place together only what it admits together."""
    team.apply([training_runtime("steps", team.namespace, gpus=1, download="1s", train="1s")])
    placed = {PODSET_GROUP: "both", TOPOLOGY: "kubernetes.io/hostname"}
    group = {"metadata": {"annotations": placed}}
    steps = [
        {"name": name, "template": {"spec": {"template": group}}}
        for name in ("dataset-initializer", "node")
    ]
    spec = {"template": {"spec": {"replicatedJobs": steps}}}
    patch = {"manager": "example.com/test", "trainingRuntimeSpec": spec}
    warnings = submitted(team, trainjob("tune", team.namespace, team.label, runtimePatches=[patch]))
    assert "admitted whole, since steps share a podset group" in warnings
    assert team.one("trainjobs", "tune")["metadata"]["labels"] == team.label


def _labelled(team: Team, kind: str, name: str) -> "subprocess.CompletedProcess[str]":
    label = ("label", kind, name, f"--namespace={team.namespace}", f"{STEP_QUEUE}=gpu")
    return ran(team.cluster, *label, user="alice")
