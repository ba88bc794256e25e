"""`kueue-steps steps` tells a step's place in its queue, by Kueue's own visibility API."""

import json
from collections.abc import Callable, Iterator

import pytest

from localcluster.cluster import Cluster
from tests.stack import visibility
from tests.stack.objects import jobset, local_queue, step
from tests.stack.steps_command import View, cleared, run
from tests.stack.steps_viewers import documented, own, user_with
from tests.stack.team import Team, eventually

pytestmark = pytest.mark.alone


@pytest.fixture
def new_team(new_team: Callable[..., Team]) -> Iterator[Callable[..., Team]]:
    """Teams whose work is gone afterwards: some of it would hold GPUs for long."""
    with cleared(new_team) as create:
        yield create


@pytest.fixture
def visible(turn: None, cluster: Cluster) -> Iterator[None]:
    """Kueue serves its visibility API."""
    with visibility.served(cluster):
        yield


def test_the_position_is_that_of_kueue(team: Team, visible: None) -> None:
    """In the LocalQueue and in the ClusterQueue, from 1 on; for users with the documented right."""
    user = user_with(team, own(team, documented()))
    team.apply([local_queue("other", team.namespace, team.namespace)])
    waiting = {"b": "gpu", "c": "other", "d": "gpu"}
    for name, queue in {"a": "gpu", **waiting}.items():
        labels = {"kueue.x-k8s.io/queue-name": queue}
        train = step("train", gpus=8, run_for="600s")
        team.submit(jobset(name, team.namespace, labels, train, step("end", "train")))
        state = "queued" if name in waiting else "running"
        View(team, name).await_state("train", state)
    shown = eventually(lambda: _positions(team, user, waiting), "positions of all that wait")
    assert shown == _kueues(team, "gpu", "other")
    assert sorted(local for local, _ in shown.values()) == [1, 1, 2]
    assert sorted(cluster for _, cluster in shown.values()) == [1, 2, 3]
    local, cluster = shown["d"]
    text = run(team.cluster, "d", "-n", team.namespace, user=user).out
    assert f", position {local} in its queue, {cluster} in the ClusterQueue" in text

    _lose(team)
    lost = eventually(lambda: _notes(team, user), "a note on the queue that there is not")
    assert lost == [f"LocalQueue {team.namespace}/nowhere does not exist"]
    assert _places(team, user) == shown

    without = run(team.cluster, "-n", team.namespace, "-o", "json").document
    assert {one["steps"][0]["position"] for one in without["parents"]} == {None}
    [note] = without["notes"]
    assert "you may not get localqueues/pendingworkloads" in note


def _lose(team: Team) -> None:
    """A JobSet in a LocalQueue that does not exist."""
    labels = {"kueue.x-k8s.io/queue-name": "nowhere"}
    train = step("train", gpus=8, run_for="600s")
    team.submit(jobset("lost", team.namespace, labels, train, step("end", "train")))


def _notes(team: Team, user: str) -> list[str]:
    document = run(team.cluster, "-n", team.namespace, "-o", "json", user=user).document
    return list(document["notes"])


def _positions(team: Team, user: str, waiting: dict[str, str]) -> dict[str, tuple[int, int]] | None:
    found = _places(team, user)
    return found if set(found) == set(waiting) and not _notes(team, user) else None


def _places(team: Team, user: str) -> dict[str, tuple[int, int]]:
    document = run(team.cluster, "-n", team.namespace, "-o", "json", user=user).document
    return {
        parent["name"]: (place["localQueue"], place["clusterQueue"])
        for parent in document["parents"]
        if (place := parent["steps"][0]["position"])
    }


def _kueues(team: Team, *queues: str) -> dict[str, tuple[int, int]]:
    """What the API itself says, as names of JobSets and positions from 1 on."""
    found = dict[str, tuple[int, int]]()
    for queue in queues:
        place = f"namespaces/{team.namespace}/localqueues/{queue}/pendingworkloads"
        path = f"/apis/{visibility.GROUP}/v1beta2/{place}"
        for item in json.loads(team.cluster.kubectl("get", "--raw", path))["items"]:
            owner = item["metadata"]["ownerReferences"][0]["name"]
            places = item["positionInLocalQueue"] + 1, item["positionInClusterQueue"] + 1
            found[owner.removesuffix("-train-0")] = places
    return found
