"""Who can forge what: marks, owners and names of somebody's own start nothing unadmitted.

test_identity.py has the writes to a held Job; here are user names that are nearly Kueue's, marks of
ours in manifests, and marks that are put on or taken off later. The invariants are watched all the
while: no Pod of a step runs without an admission (docs/security.md, "Who can forge what").
"""

import json
import subprocess
from collections.abc import Callable

import pytest

from tests.rules.factories import JOBSET, KUEUE, MODE, STEP_QUEUES, SUBMITTED
from tests.stack.objects import (
    PAUSED,
    QUEUE,
    STEP_QUEUE,
    Object,
    job,
    jobset,
    step,
    training_runtime,
    trainjob,
)
from tests.stack.team import Team, conditions, eventually, is_suspended, ran

HELD = "wait-train-0"
WARNING = "Warning: held: Kueue starts this Job when its queue has room"


@pytest.fixture
def held(new_team: Callable[..., Team]) -> Team:
    """A team whose one step, made by alice, is held: it asks for more GPUs than there are."""
    team = new_team(gpus=1)
    steps = (step("train", gpus=8), step("after", "train"))
    team.submit(jobset("wait", team.namespace, team.label, *steps))
    team.workload_of(HELD)
    eventually(lambda: "Suspended" in conditions(team.one("jobs", HELD)), "it is seen")
    return team


NEARLY_KUEUE: dict[str, str] = {
    "with something behind it": f"{KUEUE}-2",
    "with something before it": f"x-{KUEUE}",
    "with a part of it": KUEUE.removesuffix("-manager"),
    "in capitals": KUEUE.upper(),
    "with a space": f"{KUEUE} ",
    "in a namespace that begins alike": KUEUE.replace("kueue-system", "kueue-system-2"),
    "with a letter that looks alike": KUEUE.replace("o", "\N{CYRILLIC SMALL LETTER O}"),
    "as a plain user": "kueue-controller-manager",
    "of our own account": "system:serviceaccount:kueue-steps-system:kueue-steps",
}


@pytest.mark.parametrize("name", NEARLY_KUEUE.values(), ids=NEARLY_KUEUE.keys())
def test_nobody_whose_name_is_nearly_kueues_starts_a_held_step(held: Team, name: str) -> None:
    """With every right there is, and any name but Kueue's exact one, a start is held."""
    patch = ("patch", "job", HELD, "--type=merge", "-p", '{"spec":{"suspend":false}}')
    answer = _kubectl(held, *patch, f"--as={name}", "--as-group=system:masters")
    assert (answer.returncode, WARNING in answer.stderr) == (0, True), answer.stderr
    assert is_suspended(held.one("jobs", HELD))
    assert held.pods_of(HELD) == []


def test_jobset_itself_starts_no_held_step(held: Team) -> None:
    """The name that JobSet has means that a start is held and that a stop is a pause, no more."""
    patch = ("patch", "job", HELD, "--type=merge", "-p", '{"spec":{"suspend":false}}')
    answer = _kubectl(held, *patch, f"--as={JOBSET}", "--as-group=system:masters")
    assert answer.returncode == 0, answer.stderr
    assert is_suspended(held.one("jobs", HELD))
    assert held.pods_of(HELD) == []


FORGED_MARKS: dict[str, str] = {PAUSED: "true", SUBMITTED: "true", MODE: "step", STEP_QUEUES: ""}


def test_marks_in_a_manifest_start_nothing_and_stop_nothing(team: Team) -> None:
    """A JobSet that brings all our marks along runs step by step, each when it is admitted."""
    steps = [step("a", labels={STEP_QUEUE: "gpu"}), step("b", "a", gpus=1)]
    for one in steps:
        one["template"].setdefault("metadata", {})["annotations"] = dict(FORGED_MARKS)
    forged = jobset("forged", team.namespace, team.label, *steps)
    forged["metadata"]["annotations"] = dict(FORGED_MARKS)
    team.submit(forged)
    team.await_condition("jobsets", "forged", "Completed")
    assert len(team.workloads()) == 2


def test_our_label_alone_asks_for_a_queue_and_gives_nothing_else(
    new_team: Callable[..., Team],
) -> None:
    """Who writes our label himself is queued like anybody: no room, no start."""
    team = new_team(gpus=1)
    label = {STEP_QUEUE: "gpu"}
    team.submit(jobset("wait", team.namespace, label, step("train", gpus=8), step("b", "train")))
    team.workload_of(HELD)
    assert is_suspended(team.one("jobs", HELD))
    assert team.one("jobs", HELD)["metadata"]["labels"][QUEUE] == "gpu"


@pytest.mark.parametrize("kind", ["jobset", "trainjob"])
def test_our_label_cannot_be_taken_off_a_stepped_parent(
    new_team: Callable[..., Team], kind: str
) -> None:
    """It stands as it was, whether it is removed or changed, and the steps stay held."""
    team = new_team(gpus=1)
    team.apply([training_runtime("steps", team.namespace, gpus=8, download="1s", train="1s")])
    steps = (step("train", gpus=8), step("after", "train"))
    made = {
        "jobset": jobset("wait", team.namespace, team.label, *steps),
        "trainjob": trainjob("wait", team.namespace, team.label),
    }
    team.submit(made[kind])
    for change in (f"{STEP_QUEUE}-", f"{STEP_QUEUE}=other"):
        answer = _kubectl(team, "label", kind, "wait", "--overwrite", change, "--as=alice")
        assert answer.returncode == 0, answer.stderr
        assert team.one(f"{kind}s", "wait")["metadata"]["labels"][STEP_QUEUE] == "gpu"


def test_a_pause_mark_of_somebodys_own_does_not_last(held: Team) -> None:
    """JobSet's next attempt takes it off, as the JobSet is not paused: the Job waits as before."""
    _annotate(held, f"{PAUSED}=true")

    def is_settled() -> bool:
        marks = held.one("jobs", HELD)["metadata"].get("annotations", {})
        return PAUSED not in marks and _active(held)

    eventually(is_settled, "the mark is gone and the Workload is queued")
    assert is_suspended(held.one("jobs", HELD))
    assert held.pods_of(HELD) == []


def test_a_pause_mark_that_is_taken_off_does_not_end_a_pause(team: Team) -> None:
    """The JobSet is what is paused: without the mark its Job stays stopped and its quota free."""
    steps = (step("train", gpus=1, run_for="60s"), step("after", "train"))
    team.submit(jobset("wait", team.namespace, team.label, *steps))
    team.await_running(HELD)
    _kubectl(team, "patch", "jobset", "wait", "--type=merge", "-p", '{"spec":{"suspend":true}}')
    eventually(lambda: is_suspended(team.one("jobs", HELD)) and not _active(team), "the pause")
    _annotate(team, f"{PAUSED}-")
    eventually(lambda: team.reserved() == 0, "the quota is free")
    assert is_suspended(team.one("jobs", HELD))
    assert _active(team) is False


def _owner(kind: str, version: str, name: str, uid: str) -> Object:
    return {
        "apiVersion": version,
        "kind": kind,
        "name": name,
        "uid": uid,
        "controller": True,
        "blockOwnerDeletion": False,
    }


def test_a_jobset_that_claims_a_trainjob_needs_its_uid(team: Team) -> None:
    """With another uid it is refused; nobody gets into a TrainJob's queue by its name."""
    team.apply([training_runtime("steps", team.namespace, gpus=1, download="9s", train="9s")])
    team.submit(trainjob("real", team.namespace, team.label))
    forged = jobset("forged", team.namespace, {}, step("a"), step("b", "a"))
    version = "trainer.kubeflow.org/v1alpha1"
    forged["metadata"]["ownerReferences"] = [_owner("TrainJob", version, "real", "1" * 36)]
    answer = _kubectl(team, "create", "-f", "-", "--as=alice", stdin=json.dumps(forged))
    assert answer.returncode != 0
    assert "this TrainJob could not be read" in answer.stderr


def test_a_job_that_claims_a_jobset_is_only_held(held: Team) -> None:
    """Labels and the true uid of a stepped JobSet make somebody's own Job wait, and no more."""
    uid = held.one("jobsets", "wait")["metadata"]["uid"]
    owner = _owner("JobSet", "jobset.x-k8s.io/v1alpha2", "wait", uid)
    labels = {"jobset.sigs.k8s.io/jobset-name": "wait", STEP_QUEUE: "gpu"}
    mine = job("mine", held.namespace, labels, ownerReferences=[owner])
    mine["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "1000"
    held.submit(mine)
    stored = held.one("jobs", "mine")
    assert is_suspended(stored)
    assert stored["metadata"]["labels"][QUEUE] == "gpu"
    assert held.pods_of("mine") == []


def _annotate(team: Team, change: str) -> None:
    """As alice, who made the JobSet."""
    answer = _kubectl(team, "annotate", "job", HELD, change, "--as=alice")
    assert answer.returncode == 0, answer.stderr


def _active(team: Team) -> bool:
    return bool(team.workload_of(HELD)["spec"].get("active", True))


def _kubectl(
    team: Team, *arguments: str, stdin: str | None = None
) -> subprocess.CompletedProcess[str]:
    """As the administrator, or as whom he impersonates."""
    return ran(team.cluster, "-n", team.namespace, *arguments, stdin=stdin)
