"""The component in-process-hold, write by write: policy and server store the same."""

import json
from collections.abc import Callable, Iterator
from itertools import product
from typing import Final

import pytest

from localcluster.cluster import Cluster
from localcluster.errors import KubectlError
from tests.stack import in_process
from tests.stack.objects import PAUSED, STEP_QUEUE, Object, controlled_by, job, jobset, pods, step
from tests.stack.team import Team
from tests.stack.writes_of_jobs import CREATES, EDITS, LISTS, USERS, edited

OWNER: Final = "owner"
STATES: Final[dict[str, Object]] = {"queued": {}, "paused": {PAUSED: "true"}}


@pytest.fixture
def pair(cluster: Cluster, new_team: Callable[..., Team]) -> tuple[Team, Team]:
    """A team whose Jobs the API server holds, and one whose Jobs we hold."""
    in_process.install(cluster)
    teams = in_process.hold(new_team(gpus=1)), new_team(gpus=1)
    for team in teams:
        team.cluster.apply([_owner(team)])
    return teams


@pytest.mark.parametrize("user", USERS.values(), ids=USERS.keys())
def test_an_update_is_stored_as_we_would_have_it(pair: tuple[Team, Team], user: str) -> None:
    """Whoever writes a step's Job, and whatever he writes: policy and server store the same."""
    stored = [_stored(team) for team in pair]
    for state, (what, edit), suspend in product(STATES, EDITS.items(), (False, True)):
        held, ours = (
            _answer(team, "replace", edited(jobs[state], edit, suspend=suspend), user)
            for team, jobs in zip(pair, stored, strict=True)
        )
        assert held == ours, (state, what, suspend)


@pytest.mark.parametrize("user", USERS.values(), ids=USERS.keys())
def test_a_create_is_stored_as_we_would_have_it(pair: tuple[Team, Team], user: str) -> None:
    """Whoever makes a Job with our label: policy and server store the same."""
    made = [_step_of(team, "created") for team in pair]
    for (what, edit), suspend in product(CREATES.items(), (False, True)):
        held, ours = (
            _answer(team, "create", edited(job, edit, suspend=suspend), user)
            for team, job in zip(pair, made, strict=True)
        )
        assert held == ours, (what, suspend)


def _stored(team: Team) -> dict[str, Object]:
    """Jobs by their state, of a JobSet that nobody looks after; the queue has no room for them."""
    for state, annotations in STATES.items():
        made = _step_of(team, state)
        made["metadata"]["annotations"] = annotations
        made["spec"]["suspend"] = True
        team.cluster.apply([made])
        team.workload_of(state)
    return {state: team.one("jobs", state) for state in STATES}


def _owner(team: Team) -> Object:
    return jobset(OWNER, team.namespace, {}, step("a"), managedBy="example.com/nobody")


def _step_of(team: Team, name: str) -> Object:
    reference = controlled_by(team.one("jobsets", OWNER))
    labels = team.label | {STEP_QUEUE: "gpu"}
    made = job(name, team.namespace, labels, ownerReferences=[reference])
    made["spec"]["template"] = pods(gpus=8)
    made["spec"]["template"]["spec"] |= LISTS | {"restartPolicy": "Never"}
    return made


def _answer(team: Team, verb: str, item: Object, user: str) -> Object | str:
    """What would be stored, or the refusal, without what differs by namespace or time."""
    command = (verb, "--dry-run=server", f"--as={user}", "-o", "json", "-f", "-")
    try:
        answer = team.cluster.kubectl(*command, stdin=json.dumps(item))
    except KubectlError as error:
        return error.stderr.replace(team.namespace, "")
    for word in (team.namespace, *_uids(answer)):
        answer = answer.replace(word, "")
    stored: Object = json.loads(answer)
    stored.pop("status")
    for key in ("resourceVersion", "creationTimestamp", "managedFields"):
        stored["metadata"].pop(key, None)
    return stored


def _uids(answer: str) -> Iterator[str]:
    metadata = json.loads(answer)["metadata"]
    yield metadata["uid"]
    yield from (owner["uid"] for owner in metadata.get("ownerReferences", []))
