"""The component in-process-hold, put in and taken out while a step waits: nothing is lost."""

import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest
import yaml

from localcluster.cluster import Cluster
from localcluster.manifests import WEBHOOK_KINDS, served_at
from tests.manifests import renderings
from tests.stack import in_process, reinstallation
from tests.stack.objects import PAUSED, cluster_queue, jobset, step
from tests.stack.team import Team, eventually, is_suspended

pytestmark = pytest.mark.alone

LAST: Final = "work-node-0"
POLICIES: Final = "mutatingadmissionpolicybinding,mutatingadmissionpolicy"
NAMES: Final = ("kueue-steps-hold", "kueue-steps-hold-created")


@pytest.fixture(autouse=True)
def _taken_out(cluster: Cluster) -> Iterator[None]:
    """Neither before nor after: other tests put policies in for namespaces of their own."""
    _delete_policies(cluster)
    yield
    reinstallation.replay(cluster)
    _delete_policies(cluster)


def test_a_waiting_step_does_not_notice(new_team: Callable[..., Team], tmp_path: Path) -> None:
    """Held by the server, then in process, then by both, then by the server: it waits, and runs."""
    team = new_team(gpus=1)
    _submit(team, "work")
    team.workload_of(LAST)
    _put_in(team.cluster, tmp_path)
    eventually(lambda: not _is_reviewed(team), "JobSet's attempts call us no longer")
    owner = team.one("jobsets", "work")
    eventually(lambda: in_process.is_held(team.cluster, owner), "nor do its creates")
    _submit(team, "in-process")
    team.await_condition("jobs", "in-process-first-0", "Complete")
    assert not [item for item in team.reviews() if item["name"].startswith("in-process-first")]
    reinstallation.replay(team.cluster)
    _submit(team, "both")
    team.await_condition("jobs", "both-first-0", "Complete")
    _delete_policies(team.cluster)
    eventually(lambda: _is_reviewed(team), "JobSet's attempts call us again")
    held = team.one("jobs", LAST)
    assert is_suspended(held)
    assert PAUSED not in held["metadata"]["annotations"]
    team.cluster.apply([cluster_queue(team.namespace, gpus=8)])
    for name in ("work", "in-process", "both"):
        team.await_condition("jobsets", name, "Completed")


def _submit(team: Team, name: str) -> None:
    steps = step("first"), step("node", "first", gpus=8, run_for="2s")
    team.submit(jobset(name, team.namespace, team.label, *steps))


def _put_in(cluster: Cluster, folder: Path) -> None:
    text = renderings.kustomized(folder, "in-process-hold")
    items = served_at(yaml.safe_load_all(text), reinstallation.port(cluster))
    kinds = WEBHOOK_KINDS | {item["kind"] for item in in_process.policies()}
    cluster.apply([item for item in items if item["kind"] in kinds])


def _delete_policies(cluster: Cluster) -> None:
    cluster.kubectl("delete", "--ignore-not-found", POLICIES, *NAMES)


def _is_reviewed(team: Team) -> bool:
    """Does the next attempt of JobSet to start the held Job call us?"""
    before, reviews = len(_attempts(team)), len(_reviews(team))
    team.cluster.kubectl(
        *("annotate", "jobset", "work", "-n", team.namespace, "--overwrite"),
        f"poke={secrets.token_hex(3)}",
    )
    eventually(lambda: len(_attempts(team)) > before, "an attempt of JobSet")
    return len(_reviews(team)) > reviews


def _attempts(team: Team) -> list[str]:
    return [item.name for item in team.writes("jobs", "update") if item.name == LAST]


def _reviews(team: Team) -> list[str]:
    return [item["name"] for item in team.reviews() if item["name"] == LAST]
