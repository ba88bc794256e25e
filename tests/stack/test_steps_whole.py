"""`kueue-steps steps` on the real control plane: whole parents, unqueued ones, all namespaces."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.stack.objects import GPU, Object, jobset, step
from tests.stack.steps_command import View, cleared, quota, run, submitted
from tests.stack.team import Team, eventually

STEPS: Final = ["dataset-initializer", "model-initializer", "node"]
MODE: Final = "kueue-steps.io/mode"
LONG: Final = "600s"
QUOTA: Final = "insufficient quota for nvidia.com/gpu in flavor default"


@pytest.fixture
def new_team(new_team: Callable[..., Team]) -> Iterator[Callable[..., Team]]:
    """Teams whose work is gone afterwards: some of it would hold GPUs for long."""
    with cleared(new_team) as create:
        yield create


def _whole_trainjob(team: Team) -> View:
    return submitted(team, annotations={MODE: "whole"})


def _whole_jobset(team: Team) -> View:
    first = step("a", run_for="20s")
    steps = (first, step("node", "a", gpus=8, status="Ready", run_for="20s"))
    team.submit(jobset("tune", team.namespace, team.label, *steps))
    return View(team, "tune")


@pytest.mark.parametrize("submit", [_whole_trainjob, _whole_jobset], ids=["TrainJob", "JobSet"])
def test_a_parent_that_is_admitted_as_a_whole(
    new_team: Callable[..., Team], submit: Callable[[Team], View]
) -> None:
    """One line with its Workload's state; the steps have their Jobs' and no queue of their own."""
    team = new_team(gpus=1)
    view = submit(team)

    def refused() -> Object | None:
        found = view.parent()
        is_told = found["message"] and "quota" in found["message"]
        return found if is_told and found["secondsQueued"] else None

    queued = eventually(refused, "Kueue's reason, and a second in the queue")
    assert (queued["admission"], queued["state"], queued["queue"]) == ("whole", "queued", "gpu")
    assert queued["gpus"] == {GPU: "8"}
    assert QUOTA in view.text().splitlines()[1]
    assert {one["queue"] for one in queued["steps"]} == {None}
    quota(team)
    running = view.await_parent("running")
    assert running["secondsQueued"] >= 1
    done = view.await_parent("done")
    assert {one["state"] for one in done["steps"]} == {"done"}
    assert "as a whole" in view.text().splitlines()[1]


def test_what_kueue_does_not_queue_is_shown_on_request(team: Team) -> None:
    """Left out and counted, but for --all and its name."""
    team.submit(jobset("loose", team.namespace, {}, step("a", run_for=LONG)))
    submitted(team)
    place = ("-n", team.namespace)
    listed = run(team.cluster, *place)
    assert f"JobSet {team.namespace}/loose" not in listed.out
    assert "note: 1 more is not queued by Kueue; --all shows it" in listed.out
    everything = run(team.cluster, *place, "--all", "-o", "json").document
    assert [one["name"] for one in everything["parents"]] == ["loose", "tune"]
    assert everything["leftOut"] == 0
    loose = View(team, "jobset/loose")
    loose.await_state("a", "running")
    assert "not queued by Kueue" in loose.text()


def test_every_namespace_is_shown(new_team: Callable[..., Team]) -> None:
    """With -A, each parent with its namespace."""
    teams = [new_team(), new_team()]
    for team in teams:
        submitted(team)
    shown = run(teams[0].cluster, "-A", "-o", "json", user="admin").document
    found = {(one["namespace"], one["name"]) for one in shown["parents"]}
    assert {(team.namespace, "tune") for team in teams} <= found


def test_the_kubectl_plugin_shows_the_same(team: Team) -> None:
    """`kubectl kueue-steps steps`, with the script of this installation on PATH."""
    submitted(team)
    kubectl = team.cluster.bin_dir / "kubectl"
    scripts = Path(sys.executable).parent
    environment = {
        "PATH": os.pathsep.join([str(scripts), os.environ["PATH"]]),
        "KUBECONFIG": str(team.cluster.kubeconfig("alice")),
    }
    found = subprocess.run(
        [str(kubectl), "kueue-steps", "steps", "tune", "-n", team.namespace, "-o", "json"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    [parent] = json.loads(found.stdout)["parents"]
    assert [one["name"] for one in parent["steps"]] == STEPS
