"""Objects that come again: GitOps, backups, dry runs, odd names; and labels that are taken off."""

import json

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
from tests.stack.team import Team, eventually, would_store

RECORD = "kueue-steps.io/submitted-suspended"
BY_SERVER = ("apply", "--server-side", "--force-conflicts", "--field-manager=argocd-controller")


def _submitted(team: Team, *, suspend: bool, download: str = "4s") -> Object:
    """A stepped TrainJob whose downloads take a while, applied as a GitOps tool would."""
    team.apply([training_runtime("steps", team.namespace, gpus=8, download=download, train="1s")])
    manifest = trainjob(
        "tune", team.namespace, team.label, **({"suspend": True} if suspend else {})
    )
    _run(team, manifest, *BY_SERVER)
    team.await_job("tune-dataset-initializer-0")
    return manifest


def test_c26_self_heal_that_puts_queue_and_suspend_back_changes_nothing(team: Team) -> None:
    """C26: Argo CD's self-heal of a manifest with `suspend: true` is a replay and no pause."""
    manifest = _submitted(team, suspend=True)
    before = team.one("trainjob", "tune")
    for _ in range(3):
        _run(team, manifest, *BY_SERVER)
    after = team.one("trainjob", "tune")
    assert after["spec"] == before["spec"]
    assert after["spec"]["suspend"] is False
    assert QUEUE not in after["metadata"]["labels"]
    assert after["metadata"]["annotations"][RECORD] == "true"
    team.await_condition("trainjob", "tune", "Complete")


def test_c26_a_manifest_may_change_hands(team: Team) -> None:
    """C26: client-side and server-side apply of the same TrainJob by others leave it as it is."""
    manifest = _submitted(team, suspend=False)
    before = team.one("trainjob", "tune")
    _run(team, manifest, "apply")
    _run(team, manifest, "apply", "--server-side", "--force-conflicts", "--field-manager=flux")
    after = team.one("trainjob", "tune")
    assert after["spec"] == before["spec"]
    assert after["metadata"]["labels"] == before["metadata"]["labels"]
    team.await_condition("trainjob", "tune", "Complete")


def test_c03_a_pause_between_two_replays_stands(team: Team) -> None:
    """C03: a pause patch brings no queue along, so it is told from a manifest that says suspend."""
    _submitted(team, suspend=True, download="60s")
    patch = json.dumps({"spec": {"suspend": True}})
    team.cluster.kubectl(
        *("patch", "trainjob", "tune", "-n", team.namespace, "--type=merge", "-p", patch),
        user="alice",
    )
    assert team.one("trainjob", "tune")["spec"]["suspend"] is True
    eventually(lambda: team.one("jobset", "tune")["spec"]["suspend"], "the JobSet is suspended")


def test_c32_a_restored_jobset_is_stepped_again(team: Team) -> None:
    """C32: `kubectl get -o yaml | kubectl create` of a stepped JobSet gives a stepped JobSet."""
    team.submit(jobset("pipeline", team.namespace, team.label, step("a"), step("b", "a", gpus=1)))
    backup = team.one("jobset", "pipeline")
    team.cluster.kubectl("delete", "jobset", "pipeline", "-n", team.namespace)
    eventually(lambda: not team.all("jobs"), "the first one is gone")
    team.submit(backup)
    restored = team.one("jobset", "pipeline")
    assert restored["spec"] == backup["spec"]
    assert restored["metadata"]["labels"] == backup["metadata"]["labels"]
    team.await_condition("jobset", "pipeline", "Completed")
    assert team.workload_of("pipeline-b-0")


def test_c32_a_restored_trainjob_is_stepped_again(team: Team) -> None:
    """C32: a TrainJob from a backup holds our record and no queue, and is stepped from it."""
    _submitted(team, suspend=False)
    backup = team.one("trainjob", "tune")
    # Kueue's webhook appends its entry without looking for one, and a doubled key is refused.
    backup["spec"].pop("runtimePatches")
    team.cluster.kubectl("delete", "trainjob", "tune", "-n", team.namespace)
    eventually(lambda: not [*team.all("jobs"), *team.workloads()], "the first one is gone")
    team.submit(backup)
    assert team.one("trainjob", "tune")["metadata"]["labels"] == {STEP_QUEUE: "gpu"}
    team.await_condition("trainjob", "tune", "Complete")
    assert len(team.workloads()) == 3


def test_c32_a_restored_trainjob_keeps_its_queue_beside_a_default_one(team: Team) -> None:
    """C32: Kueue puts what has no label of its own into LocalQueue `default`; ours wins over it."""
    team.apply([local_queue("default", team.namespace, team.namespace)])
    team.apply([training_runtime("steps", team.namespace, gpus=1, download="1s", train="1s")])
    restored = trainjob("tune", team.namespace, {STEP_QUEUE: "gpu"})
    team.submit(restored)
    assert team.one("trainjob", "tune")["metadata"]["labels"] == {STEP_QUEUE: "gpu"}
    team.await_condition("trainjob", "tune", "Complete")
    assert {item["spec"]["queueName"] for item in team.workloads()} == {"gpu"}


def test_c26_a_dry_run_answers_like_the_real_thing_and_leaves_nothing(team: Team) -> None:
    """C26: `--dry-run=server` shows what would be stored, and stores nothing."""
    manifest = jobset("dry", team.namespace, team.label, step("a"), step("b", "a"))
    shown = would_store(team.cluster, manifest, user="alice")
    assert shown["metadata"]["labels"] == {STEP_QUEUE: "gpu"}
    assert team.all("jobset") == []


def test_generated_names_are_stepped_as_well(team: Team) -> None:
    """A JobSet with generateName has no name yet when it is reviewed."""
    manifest = jobset("x", team.namespace, team.label, step("a"), step("b", "a"))
    del manifest["metadata"]["name"]
    manifest["metadata"]["generateName"] = "run-"
    team.submit(manifest)
    (found,) = team.all("jobset")
    assert found["metadata"]["name"].startswith("run-")
    team.await_condition("jobset", found["metadata"]["name"], "Completed")
    assert len(team.workloads()) == 2


def test_queue_labels_that_are_taken_off_a_held_job_come_back(team: Team) -> None:
    """A step's Job keeps both queue labels, whoever takes them off."""
    team.submit(
        jobset("pipeline", team.namespace, team.label, step("a", run_for="60s"), step("b", "a"))
    )
    (created,) = team.all("jobset")
    name = f"{created['metadata']['name']}-a-0"
    team.await_job(name)
    team.cluster.kubectl(
        *("label", "job", name, "-n", team.namespace, f"{QUEUE}-", f"{STEP_QUEUE}-"), user="alice"
    )
    labels = team.one("jobs", name)["metadata"]["labels"]
    assert (labels[QUEUE], labels[STEP_QUEUE]) == ("gpu", "gpu")


def _run(team: Team, manifest: Object, *command: str) -> None:
    team.cluster.kubectl(*command, "-f", "-", stdin=json.dumps(manifest), user="alice")
