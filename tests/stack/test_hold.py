"""Held Jobs on the real control plane: JobSet resumes them at every reconcile, in vain."""

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.stack.objects import Object, cluster_queue, jobset, step
from tests.stack.team import WATCHED, Team, conditions, eventually, is_suspended

TEMPLATES: dict[str, Object] = {
    "no tolerations": {},
    "one toleration": {"tolerations": [{"key": "a", "operator": "Exists"}]},
    "six tolerations": {
        "tolerations": [
            {"key": f"k{n}", "operator": "Exists", "effect": "NoExecute"}
            | ({"tolerationSeconds": 60 * n} if n % 2 else {})
            for n in range(6)
        ]
    },
    "scheduling gates": {"schedulingGates": [{"name": "a.example/1"}, {"name": "a.example/2"}]},
    "a node selector": {"nodeSelector": {"pool": "gpu", "kubernetes.io/hostname": "gpu-0"}},
}
RECONCILES = 20


@pytest.mark.parametrize("template", TEMPLATES.values(), ids=TEMPLATES.keys())
def test_c01_a_held_job_is_not_written_by_jobsets_attempts(
    new_team: Callable[..., Team], template: Object
) -> None:
    """C01: over twenty reconciles of JobSet, a Job without room in its queue does not change."""
    team = new_team(gpus=1)
    waiting = step("train", gpus=8)
    waiting["template"]["spec"]["template"]["spec"] |= template
    team.submit(jobset("wait", team.namespace, team.label, step("a"), _after(waiting)))
    held = _settled(team, "wait-train-0")
    before = len(team.writes("jobs", "update"))
    for number in range(RECONCILES):
        _poke(team, "wait", number)
    attempts = len(team.writes("jobs", "update")) - before
    after = team.one("jobs", "wait-train-0")
    assert after["metadata"]["resourceVersion"] == held["metadata"]["resourceVersion"]
    assert after["spec"]["suspend"] is True
    assert 1 <= attempts <= 2 * RECONCILES
    assert [pod for pod in team.all("pods") if "train" in pod["metadata"]["name"]] == []


def test_c01_kueues_start_passes_and_the_hold_ends(new_team: Callable[..., Team]) -> None:
    """C01: the same move by Kueue starts the Job, once its queue has room."""
    team = new_team(gpus=1)
    team.submit(
        jobset("wait", team.namespace, team.label, step("a"), _after(step("train", gpus=8)))
    )
    team.await_job("wait-train-0")
    team.cluster.apply([cluster_queue(team.namespace, gpus=8)])
    team.await_condition("jobsets", "wait", "Completed")
    assert "Admitted" in conditions(team.workload_of("wait-train-0"))


def test_c04_no_step_is_ever_stored_running(team: Team, tmp_path: Path) -> None:
    """C04: the first stored version of each Job is suspended, so no pod flashes up."""
    with _watched(team, "jobs", tmp_path / "events") as first_versions:
        team.submit(
            jobset("pipeline", team.namespace, team.label, step("a"), step("b", "a", gpus=2))
        )
        eventually(lambda: len(first_versions()) > 1, "both Jobs")
        seen = first_versions()
    assert {name: job["spec"]["suspend"] for name, job in seen.items()} == {
        "pipeline-a-0": True,
        "pipeline-b-0": True,
    }


def test_a_person_who_starts_a_held_job_is_told_why_it_stays(
    new_team: Callable[..., Team],
) -> None:
    """A Job that a user un-suspends by hand stays held, and the user is warned."""
    team = new_team(gpus=1)
    team.submit(
        jobset("wait", team.namespace, team.label, step("a"), _after(step("train", gpus=8)))
    )
    team.await_job("wait-train-0")
    command = [
        str(team.cluster.bin_dir / "kubectl"),
        f"--kubeconfig={team.cluster.kubeconfig('alice')}",
        *("patch", "job", "wait-train-0", "-n", team.namespace),
        *("--type=merge", "-p", '{"spec":{"suspend":false}}'),
    ]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "Warning: held: Kueue starts this Job" in answer.stderr
    assert team.one("jobs", "wait-train-0")["spec"]["suspend"] is True


def _after(later: Object) -> Object:
    return later | {"dependsOn": [{"name": "a", "status": "Complete"}]}


def _settled(team: Team, name: str) -> Object:
    """The Job once its controller has seen it and JobSet has tried again in a later second.

    That attempt is stored: managedFields are sorted by their time, in whole seconds, and JobSet's
    entry moves behind the Job controller's. No other attempt is.
    """
    team.await_job(name)
    eventually(lambda: "Suspended" in conditions(team.one("jobs", name)), "Suspended")
    time.sleep(1.1)
    _poke(team, "wait", -1)
    return team.one("jobs", name)


def _poke(team: Team, name: str, number: int) -> None:
    """Makes JobSet reconcile: an event of the JobSet, seen through an attempt to resume its Job."""
    before = len(team.writes("jobs", "update"))
    team.cluster.kubectl(
        *("annotate", "jobset", name, "-n", team.namespace, "--overwrite", f"poke={number}")
    )
    eventually(lambda: len(team.writes("jobs", "update")) > before, "an attempt of JobSet")


@contextmanager
def _watched(team: Team, kind: str, path: Path) -> Iterator[Callable[[], dict[str, Object]]]:
    """The first version of each object of a kind that is made in the block.

    The watch begins at what is there before, however late its process starts.
    """
    where = f"{WATCHED[kind]}/namespaces/{team.namespace}/{kind}"
    before = json.loads(team.cluster.kubectl("get", "--raw", where))
    version = before["metadata"]["resourceVersion"]
    command = [
        str(team.cluster.bin_dir / "kubectl"),
        f"--kubeconfig={team.cluster.kubeconfig()}",
        *("get", "--raw", f"{where}?watch=1&resourceVersion={version}"),
    ]
    with path.open("w") as output, subprocess.Popen(command, stdout=output) as watch:
        try:
            yield lambda: {
                event["object"]["metadata"]["name"]: event["object"]
                for event in _documents(path.read_text())
                if event["type"] == "ADDED"
            }
        finally:
            watch.terminate()


def _documents(text: str) -> list[Object]:
    """The complete JSON documents of a text that is still being written."""
    decoder, found = json.JSONDecoder(), []
    with suppress(json.JSONDecodeError):
        while text := text.lstrip():
            document, end = decoder.raw_decode(text)
            found.append(document)
            text = text[end:]
    return found


def test_a_step_that_another_controller_manages_is_not_written_without_end(
    new_team: Callable[..., Team],
) -> None:
    """JobSet resumes it like any other, and Kueue would stop it: some hundred writes a second."""
    team = new_team(gpus=1)
    managed = step("a", gpus=8)
    managed["template"]["spec"]["managedBy"] = "example.com/somebody"
    team.submit(jobset("chain", team.namespace, team.label, managed, step("b", "a")))
    team.await_job("chain-a-0")
    time.sleep(5)
    assert is_suspended(team.one("jobs", "chain-a-0"))
    assert len(team.writes("jobs", "update", "patch")) < 10
