"""Every example, unchanged, on the real control plane, and the Kubeflow SDK beside it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.preview.printed import INPUTS, ROOT, promised
from tests.stack.objects import QUEUE, STEP_QUEUE, Object, local_queue
from tests.stack.team import (
    Team,
    condition_time,
    eventually,
    is_suspended,
    started_before_admission,
)

EXAMPLES = ROOT / "examples"
SDK = ROOT / ".venv-sdk" / "bin" / "python"
VIEW = ROOT / "tests" / "stack" / "sdk_view.py"
DOWNLOADS = ("dataset-initializer", "model-initializer")

STEPPED: dict[str, tuple[dict[str, str], ...]] = {
    "torchtune": (dict.fromkeys(DOWNLOADS, "gpus"), {"node": "gpus"}),
    "step-queues": (dict.fromkeys(DOWNLOADS, "cpus"), {"node": "gpus"}),
    "pipeline": ({"prepare": "cpus"}, {"train": "gpus"}, {"evaluate": "gpus"}),
}
"""The steps of each example, one turn after the other, and the queue of each."""

ALL = (*STEPPED, "gang", "queues")


@pytest.fixture
def crew(team: Team) -> Team:
    """A team with the queues of the examples."""
    team.cluster.kubectl("apply", "-n", team.namespace, "-f", EXAMPLES / "queues.yaml")
    return team


@pytest.fixture(scope="session")
def sdk() -> Path:
    """The Python that has the Kubeflow SDK."""
    assert SDK.is_file(), f"{SDK.relative_to(ROOT)} is missing; `make sdk` makes it"
    return SDK


def apply(team: Team, name: str) -> str:
    """Applies an example as alice, and returns what kubectl said on standard error."""
    run = subprocess.run(
        [
            *(str(team.cluster.bin_dir / "kubectl"), "apply", "-n", team.namespace),
            *("--kubeconfig", str(team.cluster.kubeconfig("alice"))),
            *("-f", str(EXAMPLES / f"{name}.yaml")),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    return run.stderr


def ask(team: Team, sdk: Path, program: Path, *arguments: str) -> str:
    """What a program prints that is run by the SDK's Python, with an administrator's rights."""
    run = subprocess.run(
        [sdk, program, *arguments],
        env={**os.environ, "KUBECONFIG": str(team.cluster.kubeconfig())},
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


def documents(name: str) -> Iterator[Object]:
    """The objects of an example."""
    yield from yaml.safe_load_all((EXAMPLES / f"{name}.yaml").read_text())


def admissions(team: Team) -> dict[str, str]:
    """What Kueue has admitted, and where: the kind and name of each, and its ClusterQueue."""
    found = {}
    for item in team.workloads():
        [owner] = item["metadata"]["ownerReferences"]
        queue = item["status"]["admission"]["clusterQueue"]
        assert queue == item["spec"]["queueName"]
        found[f"{owner['kind']} {owner['name']}"] = queue
    return found


def await_end(team: Team, name: str) -> None:
    """Returns when the JobSet of this name is completed, and its TrainJob if it has one."""
    team.await_condition("jobsets", name, "Completed")
    if team.find("trainjobs", name):
        team.await_condition("trainjobs", name, "Complete")


def assert_stepped(team: Team, name: str, turns: tuple[dict[str, str], ...]) -> None:
    """Every step was admitted by itself, in its queue, when those before it were complete."""
    queues = {f"Job {name}-{step}-0": queue for turn in turns for step, queue in turn.items()}
    assert admissions(team) == queues
    assert list(started_before_admission(team)) == []
    for before, after in pairwise(turns):
        ended = max(
            condition_time(team.one("jobs", f"{name}-{step}-0"), "Complete") for step in before
        )
        for step in after:
            assert condition_time(team.workload_of(f"{name}-{step}-0"), "Admitted") >= ended


@pytest.mark.parametrize("name", STEPPED)
def test_it_runs_step_by_step_to_its_end(crew: Team, name: str) -> None:
    """In the queues that the file says, without a warning; a second apply changes nothing."""
    assert apply(crew, name) == ""
    assert apply(crew, name) == ""
    await_end(crew, name)
    assert_stepped(crew, name, STEPPED[name])


def test_the_gang_runs_whole_and_says_why(crew: Team) -> None:
    """One admission for all of it, and the warning that its file announces."""
    assert "admitted whole, since a step waits for another to be Ready" in apply(crew, "gang")
    apply(crew, "gang")
    await_end(crew, "gang")
    assert admissions(crew) == {"TrainJob gang": "gpus"}


def test_the_pipeline_hands_its_labels_on(crew: Team) -> None:
    """Kueue knows priority and longest time of the step, whichever queue it is in."""
    apply(crew, "pipeline")
    spec = crew.workload_of("pipeline-prepare-0")["spec"]
    assert spec["priorityClassRef"]["name"] == "urgent"
    assert (spec["priority"], spec["maximumExecutionTimeSeconds"]) == (1000, 3600)
    crew.cluster.kubectl("delete", "jobset", "pipeline", "-n", crew.namespace)


def test_the_api_server_takes_them_strictly(crew: Team) -> None:
    """No field is unknown or there twice."""
    for name in ALL:
        file = ("-n", crew.namespace, "-f", EXAMPLES / f"{name}.yaml")
        said = crew.cluster.kubectl("apply", "--dry-run=server", "--validate=strict", *file)
        assert said.count("(server dry run)") == len(list(documents(name))), name


def test_they_stand_side_by_side_in_any_namespace() -> None:
    """None is missing in the tables here, no two are one object, and none says where it belongs."""
    assert {path.stem for path in EXAMPLES.glob("*.yaml")} == set(ALL)
    items = [item for name in ALL for item in documents(name)]
    names = [(item["kind"], item["metadata"]["name"]) for item in items]
    assert len(set(names)) == len(names)
    assert not [item for item in items if "namespace" in item["metadata"]]


def test_the_readme_shows_what_is_printed(crew: Team) -> None:
    """Its previews with a look at the cluster, word for word but for the namespace."""
    shown = {line: text for line, text in promised(EXAMPLES / "README.md") if "--cluster" in line}
    assert shown
    for line, text in shown.items():
        run = subprocess.run(
            [sys.executable, "-m", "webhook", *line.split()[1:], "-n", crew.namespace],
            cwd=ROOT,
            env={**os.environ, "KUBECONFIG": str(crew.cluster.kubeconfig())},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert run.stdout.replace(f"{crew.namespace}/", "default/").strip() == text


def test_what_the_sdk_submits_is_stepped(crew: Team, sdk: Path) -> None:
    """The script ends with the TrainJob; it is the one that a golden preview was asked about."""
    said = ask(crew, sdk, EXAMPLES / "sdk" / "submit.py", "-n", crew.namespace)
    [trainjob] = crew.all("trainjobs")
    name = trainjob["metadata"]["name"]
    assert said.splitlines() == [
        f"TrainJob {name} is submitted",
        f"TrainJob {name} is Complete:",
        *(f"  {step}: Succeeded" for step in (*DOWNLOADS, "node-0")),
    ]
    assert_stepped(crew, name, STEPPED["step-queues"])
    recorded = json.loads((INPUTS / "sdk.json").read_text())
    assert recorded["metadata"]["labels"] == {QUEUE: "gpus"}
    assert trainjob["metadata"]["labels"] == {STEP_QUEUE: "gpus"}
    assert trainjob["metadata"]["annotations"] == recorded["metadata"]["annotations"]
    assert is_within(recorded["spec"], trainjob["spec"])


def is_within(said: Any, stored: Any) -> bool:
    """Whether all that was said is stored, beside what was filled in; the SDK says 8.0 for 8."""
    match said, stored:
        case dict(), dict():
            return all(key in stored and is_within(said[key], stored[key]) for key in said)
        case float(), str():
            return said == float(stored)
        case _:
            return bool(said == stored)


def test_the_sdk_reads_what_has_ended(crew: Team, sdk: Path) -> None:
    """Stepped or whole: its client sees the same, and its models lose nothing that is stored."""
    names = ("gang", "step-queues", "torchtune")
    for name in names:
        apply(crew, name)
    for name in names:
        await_end(crew, name)
    view = json.loads(ask(crew, sdk, VIEW, crew.namespace))
    nodes = {"gang": ("node-0", "node-1")}
    assert view["listed"] == view["got"]
    assert view["got"] == {
        name: {
            "status": "Complete",
            "steps": dict.fromkeys(nodes.get(name, (*DOWNLOADS, "node-0")), "Succeeded"),
        }
        for name in names
    }
    assert view["written"] == view["read"]


def test_the_sdk_reads_what_waits(new_team: Callable[..., Team], sdk: Path) -> None:
    """The downloads are there and no GPU is: two steps have ended, the TrainJob has not."""
    team = new_team(gpus=0)
    team.apply([local_queue("gpus", team.namespace, team.namespace)])
    apply(team, "torchtune")
    node = team.await_job("torchtune-node-0")
    assert is_suspended(node)
    eventually(lambda: _finished(team) == len(DOWNLOADS), "our Events of both downloads")
    view = json.loads(ask(team, sdk, VIEW, team.namespace))
    steps = dict.fromkeys(DOWNLOADS, "Succeeded")
    assert view["got"] == {"torchtune": {"status": "Created", "steps": steps}}
    assert view["told"]["torchtune"].count("StepFinished") == len(DOWNLOADS)
    assert view["written"] == view["read"]


def _finished(team: Team) -> int:
    """How many steps our Events say have finished."""
    return [event.get("reason") for event in team.all("events")].count("StepFinished")
