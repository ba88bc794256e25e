"""Another webhook undoes our work after us: refused, rather than run without admission."""

import subprocess

import pytest

from tests.stack.objects import (
    PRIORITY,
    QUEUE,
    STEP_QUEUE,
    Object,
    job,
    jobset,
    step,
    training_runtime,
    trainjob,
)
from tests.stack.team import Team, eventually, is_suspended, submitted, would_store
from tests.stack.undoing import undoing

TRAINJOB = ("trainer.kubeflow.org", "v1alpha1", "trainjobs")
JOBSET = ("jobset.x-k8s.io", "v1alpha2", "jobsets")
JOB = ("batch", "v1", "jobs")


def _on_step(index: int, labels: Object) -> Object:
    return {
        "spec": {"replicatedJobs": {str(index): {"template": {"metadata": {"labels": labels}}}}}
    }


ON_TRAINJOBS: dict[str, tuple[Object, str]] = {
    "Kueue's queue label comes back": ({QUEUE: "gpu"}, QUEUE),
    "a priority class that none can be called": ({PRIORITY: "a_b"}, PRIORITY),
}
ON_JOBSETS: dict[str, tuple[Object, str]] = {
    "Kueue's queue label comes back": ({"metadata": {"labels": {QUEUE: "gpu"}}}, QUEUE),
    "a step loses its queue": (_on_step(1, {QUEUE: None}), "spec.replicatedJobs[1]"),
    "a step loses our label": (_on_step(1, {STEP_QUEUE: None}), "spec.replicatedJobs[1]"),
}


@pytest.mark.parametrize(("labels", "place"), ON_TRAINJOBS.values(), ids=ON_TRAINJOBS.keys())
def test_a_trainjob_that_another_webhook_spoils_is_refused(
    team: Team, labels: Object, place: str
) -> None:
    """The final object is judged by Kueue's rules and ours, and the user is told."""
    team.apply([training_runtime("steps", team.namespace, gpus=1, download="1s", train="1s")])
    with undoing(team, *TRAINJOB, {"metadata": {"labels": labels}}):
        _await_refusal(team, trainjob("tune", team.namespace, team.label), place)


@pytest.mark.parametrize(("patch", "place"), ON_JOBSETS.values(), ids=ON_JOBSETS.keys())
def test_a_jobset_that_another_webhook_undoes_is_refused(
    team: Team, patch: Object, place: str
) -> None:
    """A step without its queue would run without admission."""
    with undoing(team, *JOBSET, patch):
        chain = (step("a"), step("b", "a"))
        _await_refusal(team, jobset("chain", team.namespace, team.label, *chain), place)


def test_a_job_that_another_webhook_starts_never_runs(team: Team) -> None:
    """JobSet can't create it, and tries again once the other webhook is gone."""
    with undoing(team, *JOB, {"spec": {"suspend": False}}):
        eventually(lambda: _is_started(team), "the other webhook is called")
        chain = (step("a"), step("b", "a"))
        submitted(team, jobset("chain", team.namespace, team.label, *chain))
        eventually(lambda: _refusals(team), "a Job is refused as undone")
        assert team.all("jobs") == []
    team.await_condition("jobsets", "chain", "Completed")


def _is_started(team: Team) -> bool:
    """Is a suspended Job, nobody's step, stored as one that runs?"""
    probe = job("probe", team.namespace, {})
    probe["spec"]["suspend"] = True
    return not is_suspended(would_store(team.cluster, probe))


def _refusals(team: Team) -> list[Object]:
    """By the webhook's log: JobSet's Event keeps the message of whatever failed first."""
    return [review for review in team.reviews() if review["reason"] == "Undone"]


def _await_refusal(team: Team, item: Object, place: str) -> None:
    """API servers learn of a new registration after a moment."""

    def refused() -> bool:
        try:
            submitted(team, item)
        except subprocess.CalledProcessError as refusal:
            return place in refusal.stderr
        team.cluster.kubectl(
            "delete", item["kind"], item["metadata"]["name"], f"--namespace={team.namespace}"
        )
        return False

    eventually(refused, f"refused at {place}")
