"""An upgrade loses no step: what an older version stored, a new server, manifests applied again."""

import json
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Final

import pytest

from localcluster import webhook
from localcluster.cluster import Cluster
from localcluster.manifests import WEBHOOK_KINDS
from tests.stack import reinstallation
from tests.stack.objects import (
    PAUSED,
    QUEUE,
    STEP_QUEUE,
    Object,
    cluster_queue,
    controlled_by,
    jobset,
    named,
    step,
)
from tests.stack.team import Team, conditions, eventually, is_suspended, started_before_admission
from tests.stack.writes_of_jobs import JOBSET, KUEUE

pytestmark = pytest.mark.alone

RECORDS: Final = sorted((Path(__file__).parent / "stored").glob("*.json"))
"""What each version stored of one JobSet `work`, its Job `work-node-0` held and paused, and the
Workload of the paused one: real objects, without what the API server gave them."""

LAST: Final = "work-node-0"
OURS: Final = (STEP_QUEUE, QUEUE, PAUSED)


@pytest.fixture
def _as_it_was(cluster: Cluster) -> Iterator[None]:
    yield
    reinstallation.serve(cluster)


@pytest.fixture(params=RECORDS, ids=lambda path: path.stem)
def record(request: pytest.FixtureRequest) -> dict[str, Object]:
    """The objects of one version, by what they are."""
    content: dict[str, Object] = json.loads(request.param.read_text())
    return content


def test_today_the_same_is_stored(new_team: Callable[..., Team], record: dict[str, Object]) -> None:
    """A downgrade finds nothing new: labels, annotations and states are those of that version."""
    queued, paused = new_team(gpus=1), new_team()
    for team in (queued, paused):
        _submit(team)
    queued.workload_of(LAST)
    paused.await_running(LAST)
    paused.suspend("jobset", "work", True)
    eventually(lambda: not paused.workload_of(LAST)["spec"]["active"], "it is inactive")
    eventually(lambda: is_suspended(paused.one("jobs", LAST)), "it is suspended")
    today = {
        "jobset": queued.one("jobsets", "work"),
        "held": queued.one("jobs", LAST),
        "paused": paused.one("jobs", LAST),
        "workload": paused.workload_of(LAST),
    }
    assert {key: _contract(item) for key, item in today.items()} == {
        key: _contract(item) for key, item in record.items()
    }


def test_a_parent_of_an_older_version_is_held_paused_resumed_and_finished(
    new_team: Callable[..., Team], record: dict[str, Object]
) -> None:
    """Stored by that version, and since the upgrade ours: its steps wait, stop, go on and end."""
    team = new_team(gpus=1)
    with _no_new_jobs(team), reinstallation.left_out(team.cluster, team.namespace):
        team.cluster.apply([_placed(record["jobset"], team)])
        assert _contract(team.one("jobsets", "work")) == _contract(record["jobset"])
    team.workload_of(LAST)
    eventually(lambda: _is_quiet(team), "it is held")
    team.suspend("jobset", "work", True)
    eventually(lambda: team.workload_of(LAST)["spec"]["active"] is False, "it is inactive")
    team.cluster.apply([cluster_queue(team.namespace, gpus=8)])
    team.suspend("jobset", "work", False)
    team.await_condition("jobsets", "work", "Completed")
    assert "Finished" in conditions(team.workload_of(LAST))


@pytest.mark.parametrize(
    ("state", "user", "paused"),
    [("held", JOBSET, False), ("paused", KUEUE, True), ("paused", JOBSET, False)],
    ids=["JobSet starts what is held", "Kueue starts what is paused", "JobSet resumes"],
)
def test_a_job_of_an_older_version_stays_held(
    new_team: Callable[..., Team], record: dict[str, Object], state: str, user: str, *, paused: bool
) -> None:
    """The very Job that it stored: nobody starts it who may not, and its pause can end."""
    team = new_team(gpus=1)
    owner = jobset("work", team.namespace, {}, step("a"), managedBy="example.com/nobody")
    with reinstallation.left_out(team.cluster, team.namespace):
        team.cluster.apply([owner])
        team.cluster.apply([_owned(record[state], team)])
    assert _contract(team.one("jobs", LAST)) == _contract(record[state])
    patch = '{"spec":{"suspend":false}}'
    team.cluster.kubectl(
        *("patch", "job", LAST, "-n", team.namespace, "--type=merge", "-p", patch), f"--as={user}"
    )
    stored = team.one("jobs", LAST)
    assert is_suspended(stored)
    assert (PAUSED in stored["metadata"]["annotations"]) is paused


@pytest.mark.usefixtures("_as_it_was")
def test_a_roll_out_and_the_manifests_again_change_no_step(
    cluster: Cluster, new_team: Callable[..., Team]
) -> None:
    """Queued and running steps outlast a new configuration and a second apply, trust as well."""
    queued, running = new_team(gpus=1), new_team()
    for team in (queued, running):
        _submit(team, run_for="15s")
    queued.workload_of(LAST)
    running.await_running(LAST)
    eventually(lambda: _is_quiet(queued), "it is held")
    reinstallation.replay(cluster)  # Other tests have left namespaces out.
    held, started = queued.one("jobs", LAST), running.one("jobs", LAST)
    trusted = _registrations(cluster)
    reinstallation.serve(cluster, LOG__LEVEL="debug")
    reinstallation.replay(cluster)
    assert _registrations(cluster) == trusted
    assert queued.one("jobs", LAST) == held
    now = running.one("jobs", LAST)
    assert (now["metadata"]["uid"], now["spec"]) == (started["metadata"]["uid"], started["spec"])
    cluster.apply([cluster_queue(queued.namespace, gpus=8)])
    for team in (queued, running):
        team.await_condition("jobsets", "work", "Completed")
        assert list(started_before_admission(team)) == []


def _submit(team: Team, run_for: str = "60s") -> None:
    steps = step("first"), step("node", "first", gpus=8, run_for=run_for)
    team.submit(jobset("work", team.namespace, team.label, *steps))


def _contract(item: Object) -> Object:
    """What versions have to agree about."""
    metadata = item["metadata"]
    labels = [metadata.get("labels", {})] + [
        each["template"]["metadata"]["labels"] for each in item["spec"].get("replicatedJobs", ())
    ]
    return {
        "labels": [{key: found[key] for key in OURS if key in found} for found in labels],
        "annotations": {
            key: value
            for key, value in metadata.get("annotations", {}).items()
            if key.startswith("kueue-steps.io/")
        },
        "suspend": bool(item["spec"].get("suspend")),
        "active": item["spec"].get("active", True),
    }


def _placed(item: Object, team: Team) -> Object:
    placed = deepcopy(item)
    placed["metadata"]["namespace"] = team.namespace
    return placed


def _owned(item: Object, team: Team) -> Object:
    owned = _placed(item, team)
    owned["metadata"]["ownerReferences"] = [controlled_by(team.one("jobsets", "work"))]
    return owned


@contextmanager
def _no_new_jobs(team: Team) -> Iterator[None]:
    """JobSet can make no Job within the block: while we are not asked nobody would hold it."""
    quota = named("ResourceQuota", "v1", "no-jobs", team.namespace)
    team.cluster.apply([quota | {"spec": {"hard": {"count/jobs.batch": "0"}}}])
    eventually(
        lambda: team.one("resourcequota", "no-jobs").get("status", {}).get("hard"),
        "the quota of Jobs is in force",
    )
    try:
        yield
    finally:
        team.cluster.kubectl("delete", "resourcequota", "no-jobs", "-n", team.namespace)


def _is_quiet(team: Team) -> bool:
    """Does an attempt of JobSet store nothing?"""
    before = team.one("jobs", LAST)
    attempts = len(team.writes("jobs", "update"))
    team.cluster.kubectl(
        *("annotate", "jobset", "work", "-n", team.namespace, "--overwrite"),
        f"poke={secrets.token_hex(3)}",
    )
    eventually(lambda: len(team.writes("jobs", "update")) > attempts, "an attempt of JobSet")
    return {"Suspended"} <= conditions(before) and team.one("jobs", LAST) == before


def _registrations(cluster: Cluster) -> list[Object]:
    return [cluster.get(kind, webhook.REGISTRATION) for kind in sorted(WEBHOOK_KINDS)]
