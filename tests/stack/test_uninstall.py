"""Uninstalling while steps are queued, running and paused: no Job is held for ever."""

import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from localcluster import webhook
from localcluster.cluster import Cluster
from localcluster.invariants.violation import Invariant
from tests.manifests import renderings
from tests.stack import reinstallation
from tests.stack.objects import QUEUE, STEP_QUEUE, cluster_queue, jobset, step
from tests.stack.team import Team, eventually, is_suspended, would_store

pytestmark = pytest.mark.alone

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "uninstall.md"
REGISTRATIONS = ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"]
LAST = "work-node-0"
MODE = "kueue-steps.io/mode"


@pytest.fixture
def _installed_again(turn: None, cluster: Cluster) -> Iterator[None]:
    """Nothing is left of other tests: without us JobSet and Kueue would quarrel over their Jobs."""
    left = ("trainjobs,jobsets,jobs", "--all-namespaces", "-l", STEP_QUEUE)
    cluster.kubectl("delete", *left, "--ignore-not-found", "--wait=false")
    yield
    reinstallation.put_back(cluster)


def test_what_fails_closed_is_deleted_first(cluster: Cluster) -> None:
    """`kubectl delete` goes by the order of the manifests: the registrations go before the rest."""
    for text in (renderings.installed(), cluster.kubectl("kustomize", webhook.BASE)):
        kinds = [item["kind"] for item in yaml.safe_load_all(text)]
        assert kinds[:2] == REGISTRATIONS


@pytest.mark.usefixtures("_installed_again")
def test_after_a_drain_nothing_is_left_to_hold(
    cluster: Cluster, new_team: Callable[..., Team]
) -> None:
    """New parents are left whole, stepped ones finish, and the deletion refuses nobody's create."""
    queued, running, paused = new_team(gpus=1), new_team(), new_team()
    for team in (queued, running, paused):
        _submit(team, run_for="15s")
    paused.await_running(LAST)
    paused.suspend("jobset", "work", True)
    running.await_running(LAST)
    queued.workload_of(LAST)
    eventually(lambda: not paused.running_pod(LAST) and paused.reserved() == 0, "it is paused")
    reinstallation.serve(cluster, MODE__DEFAULT="whole")
    _submit(running, name="next")
    assert _is_whole(running, "next")
    assert is_suspended(queued.one("jobs", LAST))
    paused.suspend("jobset", "work", False)
    cluster.apply([cluster_queue(queued.namespace, gpus=8)])
    for team in (queued, running, paused):
        team.await_condition("jobsets", "work", "Completed")
    with reinstallation.deletion(cluster) as process:
        while process.poll() is None:
            assert _may_create(running)
    assert process.returncode == 0
    cluster.kill(webhook.NAME)
    _submit(paused, name="next")
    assert _is_whole(paused, "next")
    for team in (running, paused):
        team.await_condition("jobsets", "next", "Completed")


@pytest.mark.usefixtures("_installed_again")
@pytest.mark.exempt(Invariant.ADMISSION, Invariant.QUOTA, Invariant.WRITES, Invariant.START)
def test_without_a_drain_kueue_starts_what_waits(
    cluster: Cluster, new_team: Callable[..., Team]
) -> None:
    """What was queued finishes once there is room; what was paused, after what is documented."""
    queued, paused = new_team(gpus=1), new_team()
    for team in (queued, paused):
        _submit(team, run_for="10s")
    paused.await_running(LAST)
    paused.suspend("jobset", "work", True)
    queued.workload_of(LAST)
    eventually(lambda: paused.workload_of(LAST)["spec"]["active"] is False, "it is inactive")
    with reinstallation.deletion(cluster) as process:
        pass
    assert process.returncode == 0
    cluster.kill(webhook.NAME)
    cluster.kubectl("annotate", "jobset", "work", "-n", queued.namespace, "poke=1")
    cluster.apply([cluster_queue(queued.namespace, gpus=8)])
    queued.await_condition("jobsets", "work", "Completed")
    paused.suspend("jobset", "work", False)
    _run_documented(cluster, "spec")
    paused.await_condition("jobsets", "work", "Completed")


def _submit(team: Team, *, name: str = "work", run_for: str = "3s") -> None:
    steps = step("first", run_for="1s"), step("node", "first", gpus=8, run_for=run_for)
    team.submit(jobset(name, team.namespace, team.label, *steps))


def _is_whole(team: Team, name: str) -> bool:
    labels = team.one("jobsets", name)["metadata"]["labels"]
    return QUEUE in labels and STEP_QUEUE not in labels


def _may_create(team: Team) -> bool:
    probe = jobset("probe", team.namespace, team.label, step("a"), step("b", "a"))
    return bool(would_store(team.cluster, probe))


def _run_documented(cluster: Cluster, word: str) -> None:
    """The one block of the document that is a script with this word in it."""
    blocks = re.findall(r"```bash\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    (script,) = [block for block in blocks if word in block]
    paths = f"{cluster.bin_dir}:{os.environ['PATH']}"
    environment = os.environ | {"KUBECONFIG": str(cluster.kubeconfig()), "PATH": paths}
    subprocess.run(["/bin/bash", "-euc", script], env=environment, check=True)
