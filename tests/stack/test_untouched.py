"""C13: Jobs and JobSets that are not ours pass as they came."""

import json
from typing import Any

import pytest

from tests.stack.objects import QUEUE, STEP_QUEUE, Object, job, jobset, named, pods, step
from tests.stack.team import Team, eventually

JOBSET_LABELS = {"jobset.sigs.k8s.io/jobset-name": "other"}


def test_a_plain_job_costs_no_call(team: Team) -> None:
    """A Job without queue-name is created and runs; we never hear of it."""
    team.submit(job("plain", team.namespace, {}))
    team.await_condition("jobs", "plain", "Complete")
    assert team.reviews() == []
    assert team.workloads() == []


def test_c13_a_lone_job_with_a_queue_is_kueues_alone(team: Team) -> None:
    """C13: a Job that somebody queued himself is admitted by Kueue without us."""
    team.submit(job("lone", team.namespace, team.label))
    team.await_condition("jobs", "lone", "Complete")
    assert STEP_QUEUE not in team.one("jobs", "lone")["metadata"]["labels"]
    assert team.reviews() == []


def test_c13_a_cronjobs_jobs_are_kueues_alone(team: Team) -> None:
    """C13: Jobs of a CronJob carry their queue to Kueue, not to us."""
    template = pods()
    template["spec"]["restartPolicy"] = "Never"
    cronjob = named("CronJob", "batch/v1", "nightly", team.namespace) | {
        "spec": {
            "schedule": "0 3 * * *",
            "jobTemplate": {"metadata": {"labels": team.label}, "spec": {"template": template}},
        }
    }
    team.cluster.apply([cronjob])
    team.cluster.kubectl(
        "create", "job", "now", "--from=cronjob/nightly", "-n", team.namespace, user="admin"
    )
    team.await_condition("jobs", "now", "Complete")
    assert team.reviews() == []


FOREIGN_OWNERS: dict[str, dict[str, Any] | None] = {
    "no owner at all": None,
    "a JobSet of another group": {"apiVersion": "example.com/v1", "kind": "JobSet"},
    "an owner of another kind": {"apiVersion": "v1", "kind": "ConfigMap"},
}


@pytest.mark.parametrize("owner", FOREIGN_OWNERS.values(), ids=FOREIGN_OWNERS.keys())
def test_c13_labels_alone_do_not_make_a_job_ours(team: Team, owner: dict[str, Any] | None) -> None:
    """C13: a Job with JobSet's labels and even with ours, but without a JobSet that controls it."""
    metadata: Object = {}
    if owner:
        reference = owner | {"name": "owner", "uid": _owner_uid(team), "controller": True}
        metadata["ownerReferences"] = [reference]
    labels = team.label | JOBSET_LABELS | {STEP_QUEUE: "gpu"}
    team.submit(job("like", team.namespace, labels, **metadata))
    eventually(lambda: _is_done(team, "like"), "Kueue ran the Job, or it was collected")
    assert {review["decision"] for review in team.reviews()} == {"allowed"}
    assert {review["reason"] for review in team.reviews()} == {"OtherOwner"}


def test_c13_a_jobset_of_another_owner_stays_whole(team: Team) -> None:
    """C13: a queued JobSet that something else controls is admitted by Kueue as one Workload."""
    metadata = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "controller": True}
    owned = jobset("owned", team.namespace, team.label, step("a"), step("b", "a"))
    owned["metadata"]["ownerReferences"] = [metadata | {"uid": _owner_uid(team)}]
    team.submit(owned)
    team.await_condition("jobsets", "owned", "Completed")
    assert team.one("jobsets", "owned")["metadata"]["labels"] == team.label
    assert {review["reason"] for review in team.reviews()} == {"OtherOwner"}
    assert len(team.workloads()) == 1


def test_c13_an_update_of_a_job_that_is_not_ours_is_not_changed(team: Team) -> None:
    """C13: a queued lone Job that a user labels and annotates is stored just so."""
    team.submit(job("lone", team.namespace, team.label))
    team.cluster.kubectl(*("annotate", "job", "lone", "-n", team.namespace, "note=1"), user="alice")
    stored = team.one("jobs", "lone")["metadata"]
    assert stored["annotations"]["note"] == "1"
    assert stored["labels"][QUEUE] == "gpu"
    assert team.reviews() == []


def _owner_uid(team: Team) -> str:
    config = named("ConfigMap", "v1", "owner", team.namespace)
    created = team.cluster.kubectl("create", "-f", "-", "-o", "json", stdin=json.dumps(config))
    uid: str = json.loads(created)["metadata"]["uid"]
    return uid


def _is_done(team: Team, name: str) -> bool:
    found = team.find("jobs", name)
    return found is None or bool(found.get("status", {}).get("completionTime"))
