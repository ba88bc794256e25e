"""What one look at a namespace says, from objects as the API server answers them."""

from typing import Any

import pytest

from localcluster.demo.scene import Scene, State, requested_gpus, reserved_gpus

Object = dict[str, Any]
STEP = ("train-a", "node")


def conditions(*true: str) -> list[Object]:
    """Conditions, all of them true."""
    return [{"type": name, "status": "True"} for name in true]


def trainjob(*true: str) -> Object:
    """The TrainJob that everything here belongs to."""
    return {
        "metadata": {"name": "train-a", "uid": "t"},
        "status": {"conditions": conditions(*true)},
    }


def job(*true: str, **metadata: Any) -> Object:
    """The Job of the step `node`."""
    labels = {
        "jobset.sigs.k8s.io/jobset-name": "train-a",
        "jobset.sigs.k8s.io/replicatedjob-name": "node",
    }
    head = {"name": "train-a-node-0", "uid": "j", "labels": labels} | metadata
    return {"metadata": head, "status": {"conditions": conditions(*true)}}


def workload(owner: str, *true: str, gpus: int = 8, count: int = 1, ended: int = 0) -> Object:
    """A Workload of the Job or TrainJob with this uid."""
    usage = {"cpu": "1"} | ({"nvidia.com/gpu": str(gpus)} if gpus else {})
    status: Object = {
        "conditions": conditions(*true),
        "admission": {
            "podSetAssignments": [{"name": "node", "count": count, "resourceUsage": usage}]
        },
    }
    if ended:
        status["reclaimablePods"] = [{"name": "node", "count": ended}]
    head = {"name": f"workload-{owner}", "uid": "w", "labels": {"kueue.x-k8s.io/job-uid": owner}}
    return {"metadata": head, "status": status}


def pod(phase: str, gpus: int = 8, owner: str = "j") -> Object:
    """A pod of the Job with this uid."""
    requests = {"cpu": "1"} | ({"nvidia.com/gpu": str(gpus)} if gpus else {})
    owners = [{"kind": "Job", "uid": owner, "controller": True}]
    return {
        "metadata": {"name": "pod", "uid": "p", "ownerReferences": owners},
        "spec": {"containers": [{"resources": {"requests": requests}}]},
        "status": {"phase": phase},
    }


def scene(
    jobs: list[Object] | None = None,
    workloads: list[Object] | None = None,
    pods: list[Object] | None = None,
    trainjobs: list[Object] | None = None,
) -> Scene:
    """A look at a namespace with one TrainJob."""
    return Scene(0.0, trainjobs or [trainjob()], workloads or [], jobs or [], pods or [])


RESERVED = ("QuotaReserved", "Admitted")
PAUSED = {"annotations": {"kueue-steps.io/paused": ""}}
STATES: dict[str, tuple[Scene, State]] = {
    "no Job": (scene(), State.NOT_CREATED),
    "a Job without Workload": (scene([job()]), State.QUEUED),
    "a Workload that waits": (scene([job()], [workload("j")]), State.QUEUED),
    "quota that is reserved but not admitted": (
        scene([job()], [workload("j", "QuotaReserved")]),
        State.QUEUED,
    ),
    "its own Workload admitted": (scene([job()], [workload("j", *RESERVED)]), State.ADMITTED),
    "its TrainJob's Workload admitted": (
        scene([job()], [workload("t", *RESERVED)]),
        State.ADMITTED,
    ),
    "its own Workload waits, another is admitted": (
        scene([job()], [workload("t", *RESERVED), workload("j")]),
        State.QUEUED,
    ),
    "a pod that is not scheduled": (
        scene([job()], [workload("j", *RESERVED)], [pod("Pending")]),
        State.ADMITTED,
    ),
    "a running pod": (
        scene([job()], [workload("j", *RESERVED)], [pod("Running")]),
        State.RUNNING,
    ),
    "a running pod of another Job": (
        scene([job()], [workload("j", *RESERVED)], [pod("Running", owner="other")]),
        State.ADMITTED,
    ),
    "an ended pod that the Job has not noticed": (
        scene([job()], pods=[pod("Succeeded")]),
        State.RUNNING,
    ),
    "a complete Job": (scene([job("Complete")], pods=[pod("Succeeded")]), State.DONE),
    "a failed Job": (scene([job("Failed")], pods=[pod("Failed")]), State.FAILED),
    "a paused Job": (scene([job(**PAUSED)], [workload("j", *RESERVED)]), State.PAUSED),
}


@pytest.mark.parametrize(("seen", "state"), STATES.values(), ids=STATES.keys())
def test_how_far_a_step_is(seen: Scene, state: State) -> None:
    """Each state follows from the Job, its pods, and the Workload that admits it."""
    assert seen.state(*STEP) is state


RESERVATIONS: dict[str, tuple[Object, int]] = {
    "waiting": (workload("j"), 0),
    "reserved": (workload("j", "QuotaReserved"), 8),
    "admitted": (workload("j", *RESERVED), 8),
    "finished": (workload("j", *RESERVED, "Finished"), 0),
    "without GPUs": (workload("j", *RESERVED, gpus=0), 0),
    "one pod of four has ended": (workload("j", *RESERVED, count=4, ended=1), 6),
    "its only pod has ended": (workload("j", *RESERVED, ended=1), 0),
}


@pytest.mark.parametrize(("item", "gpus"), RESERVATIONS.values(), ids=RESERVATIONS.keys())
def test_what_counts_against_the_quota(item: Object, gpus: int) -> None:
    """GPUs count from the reservation to the end of the Workload, less those of ended pods."""
    assert reserved_gpus(item) == gpus


def test_a_pod_asks_for_the_gpus_of_all_its_containers() -> None:
    """Containers add up, and those without resources count nothing."""
    containers = [{"resources": {"requests": {"nvidia.com/gpu": "2"}}}, {"resources": {}}, {}]
    assert requested_gpus({"spec": {"containers": containers}}) == 2


def test_gpus_are_counted_under_the_workload_that_admits_the_pod() -> None:
    """Stepped that is the Job's Workload, whole it is the TrainJob's."""
    stepped = scene([job()], [workload("j", *RESERVED)], [pod("Running")])
    whole = scene([job()], [workload("t", *RESERVED)], [pod("Running")])
    assert (stepped.reserved(), stepped.used()) == ({"workload-j": 8}, {"workload-j": 8})
    assert (whole.reserved(), whole.used()) == ({"workload-t": 8}, {"workload-t": 8})


def test_pods_without_any_workload_are_not_overlooked() -> None:
    """GPUs that run without admission are counted, under no name."""
    assert scene([job()], pods=[pod("Running")]).used() == {"": 8}
    assert scene(pods=[pod("Running", owner="gone")]).used() == {"": 8}


def test_only_running_pods_with_gpus_use_any() -> None:
    """Pending and ended pods use nothing, nor do pods that ask for CPU only."""
    pods = [pod("Pending"), pod("Succeeded"), pod("Running", gpus=0)]
    assert scene([job()], [workload("j", *RESERVED)], pods).used() == {}


def test_a_trainjob_is_done_or_failed_by_its_conditions() -> None:
    """A TrainJob without conditions, or one that is not there, is neither."""
    assert scene(trainjobs=[trainjob("Complete")]).is_done("train-a")
    assert scene(trainjobs=[trainjob("Failed")]).has_failed("train-a")
    assert not scene().is_done("train-a")
    assert not scene(trainjobs=[trainjob("Complete")]).is_done("train-b")
