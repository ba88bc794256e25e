"""What `kubectl describe` tells the owner of a TrainJob of its steps, by the real control plane."""

import json
import re
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from localcluster import webhook
from localcluster.cluster import Cluster
from localcluster.kwok import FAIL
from localcluster.layout import load_layout
from localcluster.webhook import Installation
from tests.stack.objects import (
    Object,
    cluster_queue,
    jobset,
    step,
    training_runtime,
    trainjob,
)
from tests.stack.team import Team, conditions, eventually, is_whole

LINE: Final = re.compile(
    r"^ +(Normal|Warning) +(\w+) +(?:\d+[hms])+ +kueue-steps +(\S.*)$", re.MULTILINE
)
"""An Event of ours as kubectl shows it; one without an age is none."""

DOWNLOADS = ("dataset-initializer", "model-initializer")
ALL_WELL = ["StepQueued", "StepAdmitted", "StepFinished"]


class Line(NamedTuple):
    """One Event as kubectl shows it."""

    type: str
    reason: str
    note: str


def told(team: Team, kind: str, name: str) -> list[Line]:
    """The Events that the object's owner is shown, from the first to the last."""
    text = team.cluster.kubectl("describe", kind, name, "-n", team.namespace, user="alice")
    return [Line(*found) for found in LINE.findall(text.partition("\nEvents:")[2])]


def next_second() -> None:
    """Events have times to the second, so that what follows is told to come after what was."""
    time.sleep(1.1)


def await_told(team: Team, kind: str, name: str, *reasons: str) -> list[Line]:
    """The Events of an object, as soon as the last of them are for these reasons."""

    def look() -> list[Line] | None:
        lines = told(team, kind, name)
        return lines if [line.reason for line in lines[-len(reasons) :]] == [*reasons] else None

    return eventually(look, f"Events of {kind} {name} that end with {', '.join(reasons)}")


def of_step(lines: list[Line], name: str) -> list[str]:
    """What was told of one step, in order."""
    return [line.reason for line in lines if line.note.startswith(f"Step {name} ")]


def notes(lines: list[Line], reason: str) -> list[str]:
    """What was said for this reason."""
    return [line.note for line in lines if line.reason == reason]


def test_every_step_of_a_trainjob_is_told_in_order(team: Team) -> None:
    """Each of three steps is queued, admitted and finished, and the training comes last."""
    team.apply([training_runtime("steps", team.namespace, gpus=1, download="1s", train="1s")])
    team.submit(trainjob("tune", team.namespace, team.label))
    team.await_condition("trainjobs", "tune", "Complete")
    lines = await_told(team, "trainjob", "tune", *ALL_WELL)
    assert len(lines) == 9
    for download in DOWNLOADS:
        assert of_step(lines, download) == ALL_WELL
    assert of_step(lines[-3:], "node") == ALL_WELL
    assert {line.type for line in lines} == {"Normal"}
    queued, admitted, finished = (line.note for line in lines[-3:])
    assert queued == "Step node is queued in LocalQueue gpu."
    assert admitted.startswith(f"Step node was admitted by ClusterQueue {team.namespace} ")
    assert "1 cpu (flavor default), 1Gi memory (flavor default), 1 nvidia.com/gpu" in admitted
    assert re.fullmatch(r"Step node finished after it ran for \d+ s\.", finished)


def test_a_pause_and_its_end_are_told_and_are_no_eviction(team: Team) -> None:
    """Paused and Resumed, and the step that was stopped is queued and admitted once more."""
    team.apply([training_runtime("steps", team.namespace, gpus=1, download="1s", train="60s")])
    team.submit(trainjob("tune", team.namespace, team.label))
    team.await_running("tune-node-0")
    next_second()
    team.suspend("trainjob", "tune", True)
    eventually(
        lambda: "Admitted" not in conditions(team.workload_of("tune-node-0")), "the quota is back"
    )
    assert await_told(team, "trainjob", "tune", "Paused")[-1] == Line(
        *("Normal", "Paused"),
        "The TrainJob is paused: its steps stop, and their quota is given back.",
    )
    next_second()
    team.suspend("trainjob", "tune", False)
    team.await_running("tune-node-0")
    lines = await_told(team, "trainjob", "tune", "Paused", "Resumed", "StepQueued", "StepAdmitted")
    assert of_step(lines, "node") == 2 * ["StepQueued", "StepAdmitted"]


def test_an_owner_is_told_why_a_step_waits_and_that_it_was_evicted(
    new_team: Callable[..., Team],
) -> None:
    """On a JobSet of one's own: Kueue's reason for the wait, and each eviction with its reason."""
    team = new_team(gpus=0)
    _submit(team, step("train", "a", gpus=1, run_for="60s"))
    lines = await_told(team, "jobset", "tune", "StepFinished", "StepQueued")
    assert "Kueue says: " in lines[-1].note
    assert "insufficient quota for nvidia.com/gpu" in lines[-1].note
    next_second()
    _reconfigure(team)
    waited = notes(await_told(team, "jobset", "tune", "StepAdmitted"), "StepAdmitted")[-1]
    assert re.search(r"after waiting for \d+ s: ", waited)
    for times in (1, 2):
        team.await_running("tune-train-0")
        next_second()
        _reconfigure(team, stopPolicy="HoldAndDrain")
        lines = await_told(team, "jobset", "tune", "StepEvicted")
        assert lines[-1].type == "Warning"
        assert lines[-1].note.endswith("ClusterQueueStopped: The ClusterQueue is stopped.")
        assert len(notes(lines, "StepEvicted")) == times
        next_second()
        _reconfigure(team, stopPolicy="None")
        await_told(team, "jobset", "tune", "StepEvicted", "StepQueued", "StepAdmitted")
    assert of_step(told(team, "jobset", "tune"), "train") == [
        *("StepQueued", "StepAdmitted"),
        *(2 * ["StepEvicted", "StepQueued", "StepAdmitted"]),
    ]


def test_a_failure_is_told_with_the_jobs_own_words(team: Team) -> None:
    """A step whose Pod fails tells why its Job gave up."""
    failing = step("train", "a", gpus=1)
    failing["template"]["spec"]["backoffLimit"] = 0
    failing["template"]["spec"]["template"]["metadata"]["annotations"][FAIL] = "true"
    failing["template"]["spec"]["template"]["spec"]["restartPolicy"] = "Never"
    _submit(team, failing)
    team.await_condition("jobsets", "tune", "Failed")
    lines = await_told(team, "jobset", "tune", "StepFailed")
    assert lines[-1] == Line(
        *("Warning", "StepFailed"),
        "Step train failed. "
        "Its Job says: BackoffLimitExceeded: Job has reached the specified backoff limit.",
    )


def test_replicas_that_start_late_or_work_together_repeat_nothing(team: Team) -> None:
    """A replica that starts finds everything told, and of two at work each Event comes once."""
    _submit(team, step("train", "a", gpus=1))
    team.await_condition("jobsets", "tune", "Completed")
    await_told(team, "jobset", "tune", *ALL_WELL, *ALL_WELL)
    before = _stored(team)
    with another(team.cluster) as log:
        eventually(lambda: _names(log, team) == before.keys(), "the new replica tells the same")
        assert _stored(team) == before
        _submit(team, step("train", "a", gpus=1), name="again")
        team.await_condition("jobsets", "again", "Completed")
        lines = await_told(team, "jobset", "again", *ALL_WELL, *ALL_WELL)
        assert of_step(lines, "a") == of_step(lines, "train") == ALL_WELL
        eventually(lambda: _names(log, team) == _stored(team).keys(), "both told all of it")
        assert len(told(team, "jobset", "again")) == len(_stored(team)) - len(before) == 6


@contextmanager
def another(cluster: Cluster) -> Iterator[Path]:
    """One more replica, and its log: its companion works for all namespaces, its reviews for none.

    Two replicas share one registration; two registrations for one namespace would be something
    else.
    """
    name = f"events-{secrets.token_hex(3)}"
    installation = Installation.beside(name, "none", LOG__LEVEL="debug")
    try:
        webhook.install(cluster, installation)
        yield load_layout(cluster.state_dir).root / "logs" / f"{name}.log"
    finally:
        webhook.uninstall(cluster, installation)


def _names(log: Path, team: Team) -> set[str]:
    """The Events that a replica has written, or found written."""
    with log.open() as lines:
        entries = [json.loads(line) for line in lines if is_whole(line)]
    return {
        entry["name"]
        for entry in entries
        if entry["event"] == "event" and entry["namespace"] == team.namespace
    }


def _stored(team: Team) -> dict[str, str]:
    """Our Events in the namespace: their names and versions."""
    return {
        item["metadata"]["name"]: item["metadata"]["resourceVersion"]
        for item in team.all("events")
        if item["reportingComponent"] == "kueue-steps"
    }


def _submit(team: Team, last: Object, name: str = "tune") -> None:
    team.submit(jobset(name, team.namespace, team.label, step("a"), last))


def _reconfigure(team: Team, **spec: str) -> None:
    queue = cluster_queue(team.namespace, gpus=8)
    queue["spec"] |= spec
    team.cluster.apply([queue])
