"""When the steps ran, from frames and from the objects of a scene."""

from typing import Any

from localcluster.demo.frame import Frame
from localcluster.demo.runs import Run, runs
from localcluster.demo.scene import Scene
from localcluster.demo.trace import STEPPED

A, B = ("a", "dataset-initializer"), ("b", "node")


def frame(seconds: float, *at_work: tuple[str, str]) -> Frame:
    """A frame of which only the pods count."""
    return Frame(STEPPED, seconds, {}, 0, 0, 0.0, at_work=frozenset(at_work))


def job(uid: str, trainjob: str, step: str) -> dict[str, Any]:
    """A Job that JobSet made for a step."""
    labels = {
        "jobset.sigs.k8s.io/jobset-name": trainjob,
        "jobset.sigs.k8s.io/replicatedjob-name": step,
    }
    return {"metadata": {"name": uid, "uid": uid, "labels": labels}}


def pod(owner: str, phase: str) -> dict[str, Any]:
    """A pod of a Job."""
    owners = [{"uid": owner, "controller": True}]
    return {"metadata": {"name": owner, "ownerReferences": owners}, "status": {"phase": phase}}


def test_a_run_lasts_from_the_first_frame_with_a_pod_to_the_first_without() -> None:
    """Runs that overlap are told apart and come in the order of their end."""
    frames = [frame(0.0), frame(1.0, A), frame(2.0, A, B), frame(3.0, B), frame(4.0)]
    assert list(runs(frames)) == [Run(*A, 1.0, 3.0), Run(*B, 2.0, 4.0)]


def test_a_step_that_runs_twice_has_two_runs() -> None:
    """As after an eviction."""
    frames = [frame(0.0, A), frame(1.0), frame(2.0, A), frame(5.0)]
    assert list(runs(frames)) == [Run(*A, 0.0, 1.0), Run(*A, 2.0, 5.0)]


def test_what_has_not_ended_is_no_run() -> None:
    """There would be no end to tell."""
    assert list(runs([frame(0.0, A), frame(1.0, A)])) == []


def test_a_step_is_at_work_while_a_pod_of_its_job_runs() -> None:
    """Neither before nor after, and nobody else's pod counts."""
    jobs = [job("1", "a", "node"), job("2", "b", "node"), job("3", "c", "node")]
    pods = [pod("1", "Running"), pod("2", "Pending"), pod("3", "Succeeded"), pod("9", "Running")]
    assert Scene(0.0, [], [], jobs, pods).at_work() == {("a", "node")}
