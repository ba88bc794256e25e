"""A LocalQueue named `default`: Kueue puts parents into it that name no queue."""

import json
from collections.abc import Iterator

import pytest

from localcluster.cluster import Cluster
from tests.stack.objects import (
    QUEUE,
    STEP_QUEUE,
    Object,
    jobset,
    local_queue,
    step,
    training_runtime,
    trainjob,
)
from tests.stack.team import Team

MUTATING = "mutatingwebhookconfiguration"


def _trainjob(team: Team, labels: dict[str, str]) -> Object:
    team.apply([training_runtime("steps", team.namespace, gpus=1, download="1s", train="1s")])
    return trainjob("work", team.namespace, labels)


def _jobset(team: Team, labels: dict[str, str]) -> Object:
    return jobset("work", team.namespace, labels, step("a"), step("b", "a", gpus=1))


PARENTS = {"trainjob": (_trainjob, "Complete", 3), "jobset": (_jobset, "Completed", 2)}


@pytest.fixture
def after_kueue(turn: None, cluster: Cluster) -> Iterator[None]:
    """Our mutating registration under a name that sorts behind Kueue's.

    It comes back by a create: what `apply` has stored, the next apply of the manifests takes away,
    and the caBundle is not in those.
    """
    ours = cluster.get(MUTATING, "a-kueue-steps")
    ours["metadata"] = {"name": "z-kueue-steps"}
    cluster.apply([ours])
    cluster.kubectl("delete", MUTATING, "a-kueue-steps")
    yield
    ours["metadata"] = {"name": "a-kueue-steps"}
    cluster.kubectl("create", "-f", "-", stdin=json.dumps(ours))
    cluster.kubectl("delete", MUTATING, "z-kueue-steps")


@pytest.mark.parametrize("kind", PARENTS)
@pytest.mark.parametrize("labelled", [True, False], ids=["labelled", "unlabelled"])
def test_a_default_queue_ends_like_any_other(team: Team, kind: str, *, labelled: bool) -> None:
    """Labelled and unlabelled parents are stepped, and stored without Kueue's label."""
    _runs_in_steps(team, kind, labelled=labelled)


@pytest.mark.alone
@pytest.mark.usefixtures("after_kueue")
@pytest.mark.parametrize("kind", PARENTS)
@pytest.mark.parametrize("labelled", [True, False], ids=["labelled", "unlabelled"])
def test_the_order_of_the_registrations_changes_nothing(
    team: Team, kind: str, *, labelled: bool
) -> None:
    """Called after Kueue instead of before it, we leave the same."""
    _runs_in_steps(team, kind, labelled=labelled)


def _runs_in_steps(team: Team, kind: str, *, labelled: bool) -> None:
    team.apply([local_queue("default", team.namespace, team.namespace)])
    make, done, steps = PARENTS[kind]
    team.submit(make(team, team.label if labelled else {}))
    stored = team.one(kind, "work")
    queue = "gpu" if labelled else "default"
    assert stored["metadata"]["labels"] == {STEP_QUEUE: queue}
    assert not stored["spec"].get("suspend")
    team.await_condition(kind, "work", done)
    assert {job["metadata"]["labels"][QUEUE] for job in team.all("jobs")} == {queue}
    assert len(team.workloads()) == steps
