"""The invariant watcher itself: with the arbiter switched off it has to cry out."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from localcluster.cluster import Cluster
from localcluster.invariants.violation import Invariant
from localcluster.invariants.watcher import Watcher
from tests.stack.objects import Object, jobset, step
from tests.stack.team import Team, conditions, eventually

NO_ARBITER = "kueue-steps-test.example/no-arbiter"
CONFIGURATIONS = ("mutatingwebhookconfigurations", "validatingwebhookconfigurations")
ARBITER = "jobs.kueue-steps.io"
ELSEWHERE = {"key": NO_ARBITER, "operator": "DoesNotExist"}


@pytest.mark.exempt(*Invariant, because="the arbiter is switched off: that is what is tested")
def test_a_broken_arbiter_is_found_out(new_team: Callable[..., Team], watcher: Watcher) -> None:
    """Where our webhook does not see updates of Jobs, a step runs unadmitted and is reported."""
    team = new_team(gpus=1)
    with _arbiter_switched_off(team.cluster, team.namespace):
        team.submit(_without_room(team.namespace, team.label))
        found = eventually(lambda: _found(watcher, team, Invariant.ADMISSION), "a violation")
        eventually(lambda: _found(watcher, team, Invariant.QUOTA), "more GPUs than the quota")
        team.cluster.kubectl("delete", "jobset", "wait", "-n", team.namespace)
    assert "of Job wait-train-0 was made at" in found
    assert "without an admission by Kueue (never admitted)" in found


def test_the_same_jobset_is_no_violation_while_the_arbiter_works(
    new_team: Callable[..., Team], watcher: Watcher
) -> None:
    """The same JobSet in a namespace like any other waits, and there is nothing to report."""
    team = new_team(gpus=1)
    team.submit(_without_room(team.namespace, team.label))
    team.await_job("wait-train-0")
    eventually(lambda: "Suspended" in conditions(team.one("jobs", "wait-train-0")), "it is held")
    before = len(team.writes("jobs", "update"))
    team.cluster.kubectl("annotate", "jobset", "wait", "-n", team.namespace, "poke=1")
    eventually(lambda: len(team.writes("jobs", "update")) > before, "an attempt of JobSet")
    watcher.settle([team.namespace])
    assert watcher.violations([team.namespace]) == []


def _without_room(namespace: str, labels: dict[str, str]) -> Object:
    return jobset("wait", namespace, labels, step("a"), step("train", "a", gpus=8, run_for="30s"))


def _found(watcher: Watcher, team: Team, invariant: Invariant) -> str | None:
    found = watcher.violations([team.namespace])
    return next((item.sentence for item in found if item.invariant is invariant), None)


@contextmanager
def _arbiter_switched_off(cluster: Cluster, namespace: str) -> Iterator[None]:
    """Both of our configurations skip updates of Jobs in this namespace while the block runs.

    Other tests change them at the same time, so nothing of theirs is written back.
    """
    cluster.kubectl("label", "namespace", namespace, f"{NO_ARBITER}=true")
    try:
        for kind in CONFIGURATIONS:
            place, _ = _arbiters_expressions(cluster, kind)
            _patch(cluster, kind, {"op": "add", "path": f"{place}/-", "value": ELSEWHERE})
        yield
    finally:
        for kind in CONFIGURATIONS:
            place, expressions = _arbiters_expressions(cluster, kind)
            if ELSEWHERE in expressions:
                ours = f"{place}/{expressions.index(ELSEWHERE)}"
                same = {"op": "test", "path": ours, "value": ELSEWHERE}
                _patch(cluster, kind, same, {"op": "remove", "path": ours})


def _arbiters_expressions(cluster: Cluster, kind: str) -> tuple[str, list[Object]]:
    """Which namespaces the arbiter looks at, and where that is written."""
    webhooks = cluster.get(kind, "a-kueue-steps")["webhooks"]
    number = [webhook["name"] for webhook in webhooks].index(ARBITER)
    found: list[Object] = webhooks[number]["namespaceSelector"]["matchExpressions"]
    return f"/webhooks/{number}/namespaceSelector/matchExpressions", found


def _patch(cluster: Cluster, kind: str, *operations: Object) -> None:
    patch = json.dumps(operations)
    cluster.kubectl("patch", kind, "a-kueue-steps", "--type=json", "-p", patch)
