"""JobSets on the real control plane: pipelines with dependsOn, and patches of odd manifests."""

import json

import pytest

from tests.stack.objects import QUEUE, STEP_QUEUE, Object, jobset, step
from tests.stack.team import Team, condition_time, eventually, started_before_admission

RAW_JOBSETS = "/apis/jobset.x-k8s.io/v1alpha2/namespaces/{}/jobsets"


def test_a_pipeline_is_admitted_step_by_step(team: Team) -> None:
    """A JobSet with `dependsOn ... Complete` and a queue gets a Workload for each step in turn."""
    pipeline = jobset(
        "pipeline",
        team.namespace,
        team.label,
        step("prepare"),
        step("train", "prepare", gpus=8),
        step("evaluate", "train", gpus=1),
    )
    team.submit(pipeline)
    team.await_condition("jobsets", "pipeline", "Completed")
    for before, after in (("prepare", "train"), ("train", "evaluate")):
        done = condition_time(team.one("jobs", f"pipeline-{before}-0"), "Complete")
        assert done <= condition_time(team.workload_of(f"pipeline-{after}-0"), "QuotaReserved")
    assert len(team.workloads()) == 3
    assert list(started_before_admission(team)) == []


def test_a_jobset_without_a_queue_is_untouched(team: Team) -> None:
    """Without queue-name a JobSet runs at once, unlabelled, and its Jobs cost no call to us."""
    team.submit(jobset("plain", team.namespace, {}, step("one"), step("two", "one")))
    team.await_condition("jobsets", "plain", "Completed")
    for item in [team.one("jobsets", "plain"), *team.all("jobs")]:
        assert {QUEUE, STEP_QUEUE}.isdisjoint(item["metadata"].get("labels") or {})
    reviews = team.reviews()
    assert {(review["resource"], review["reason"]) for review in reviews} == {
        ("jobsets", "NotQueued")
    }
    assert {review["decision"] for review in reviews} == {"allowed"}
    assert team.workloads() == []


ODD: dict[str, Object] = {
    "no annotations, no template metadata": {},
    "null annotations": {"annotations": None},
    "empty annotations and suspend": {"annotations": {}, "suspend": True},
    "annotations with slashes of others": {"annotations": {"a.example/b": "1", "c": "2"}},
}


@pytest.mark.parametrize("oddity", ODD.values(), ids=ODD.keys())
def test_c24_patches_fit_manifests_with_missing_null_and_full_maps(
    team: Team, oddity: Object
) -> None:
    """C24: whatever maps a manifest has, ours are added and nobody else's are lost."""
    manifest = jobset(
        "odd", team.namespace, team.label | {"team": "research"}, step("a"), step("b", "a")
    )
    oddity = dict(oddity)
    suspend = oddity.pop("suspend", None)
    manifest["metadata"] |= oddity
    manifest["spec"] |= {} if suspend is None else {"suspend": suspend}
    team.cluster.kubectl(
        *("create", "--raw", RAW_JOBSETS.format(team.namespace), "-f", "-"),
        stdin=json.dumps(manifest),
        user="alice",
    )
    stored = team.one("jobsets", "odd")
    assert stored["metadata"]["labels"] == {STEP_QUEUE: "gpu", "team": "research"}
    mine = {"kueue-steps.io/submitted-suspended": "true"} if suspend else {}
    assert (stored["metadata"].get("annotations") or {}) == (oddity.get("annotations") or {}) | mine
    team.await_condition("jobsets", "odd", "Completed")


def test_a_manifest_can_be_applied_again(team: Team) -> None:
    """C26: the same JobSet applied again, client- and server-side, is stored as it was."""
    manifest = json.dumps(
        jobset("pipeline", team.namespace, team.label, step("a", run_for="5s"), step("b", "a"))
    )
    kubectl = team.cluster.kubectl
    kubectl("apply", "-f", "-", stdin=manifest, user="alice")
    stored = eventually(lambda: team.find("jobsets", "pipeline"), "JobSet pipeline")
    kubectl("apply", "-f", "-", stdin=manifest, user="alice")
    kubectl(
        *("apply", "--server-side", "--force-conflicts", "--field-manager=gitops", "-f", "-"),
        stdin=manifest,
        user="alice",
    )
    again = team.one("jobsets", "pipeline")
    assert again["spec"] == stored["spec"]
    assert again["metadata"]["labels"] == stored["metadata"]["labels"]
    team.await_condition("jobsets", "pipeline", "Completed")
