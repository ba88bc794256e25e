"""Who may start a held step: Kueue, by its exact name, and nobody else, however he writes it."""

import json
import subprocess
from collections.abc import Callable
from copy import deepcopy

import pytest

from localcluster.invariants.violation import Invariant
from tests.stack.objects import QUEUE, STEP_QUEUE, Object, jobset, step
from tests.stack.team import Team, conditions, eventually, is_suspended, ran

HELD = "wait-train-0"
PREBUILT = "kueue.x-k8s.io/prebuilt-workload-name"
KUEUE_ACCOUNT = "kueue-controller-manager"
WARNING = "Warning: held: Kueue starts this Job when its queue has room"


def _alice(_team: Team) -> str:
    return "alice"


def _admin(_team: Team) -> str:
    return "admin"


def _look_alike(team: Team) -> str:
    """A ServiceAccount that is named like Kueue's, in another namespace, and may write Jobs."""
    account = {"apiVersion": "v1", "kind": "ServiceAccount"}
    metadata = {"name": KUEUE_ACCOUNT, "namespace": team.namespace}
    team.cluster.apply([account | {"metadata": metadata}])
    team.cluster.grant(team.namespace, f"system:serviceaccount:{team.namespace}:{KUEUE_ACCOUNT}")
    name = f"look-alike-{team.namespace}"
    team.cluster.write_kubeconfig(name, team.cluster.token(team.namespace, KUEUE_ACCOUNT))
    asked = ("auth", "can-i", "update", "jobs.batch")
    eventually(lambda: _kubectl(team, name, *asked).stdout.strip() == "yes", "it may write Jobs")
    return name


USERS: dict[str, Callable[[Team], str]] = {
    "a ServiceAccount that is named like Kueue's": _look_alike,
    "a cluster administrator": _admin,
    "the author of the Job": _alice,
}


def _with_nothing_else(_metadata: Object) -> None:
    pass


def _without_labels(metadata: Object) -> None:
    metadata["labels"] = {}


def _without_queues(metadata: Object) -> None:
    del metadata["labels"][QUEUE], metadata["labels"][STEP_QUEUE]


def _without_owner(metadata: Object) -> None:
    del metadata["ownerReferences"]


def _with_prebuilt_annotation(metadata: Object) -> None:
    metadata.setdefault("annotations", {})[PREBUILT] = "mine"


def _with_prebuilt_label(metadata: Object) -> None:
    metadata["labels"][PREBUILT] = "mine"


def _with_all_of_it(metadata: Object) -> None:
    _without_labels(metadata)
    _without_owner(metadata)
    _with_prebuilt_annotation(metadata)


EDITS: dict[str, Callable[[Object], None]] = {
    "and nothing else": _with_nothing_else,
    "and strips all labels": _without_labels,
    "and strips the queue labels": _without_queues,
    "and takes its owner off": _without_owner,
    "and annotates a prebuilt Workload": _with_prebuilt_annotation,
    "and labels a prebuilt Workload": _with_prebuilt_label,
    "and does all of it": _with_all_of_it,
}


@pytest.fixture
def team(new_team: Callable[..., Team]) -> Team:
    """A team whose one step, made by alice, is held: it asks for more GPUs than there are."""
    team = new_team(gpus=1)
    steps = (step("train", gpus=8, run_for="60s"), step("after", "train"))
    team.submit(jobset("wait", team.namespace, team.label, *steps))
    team.workload_of(HELD)
    return team


@pytest.mark.parametrize("user", USERS.values(), ids=USERS.keys())
def test_nobody_else_starts_a_held_step(team: Team, user: Callable[[Team], str]) -> None:
    """A patch of suspend by anybody but Kueue changes nothing, and says what to do instead."""
    before, name = _settled(team), user(team)
    patch = ("patch", "job", HELD, "--type=merge", "-p", '{"spec":{"suspend":false}}')
    answer = _kubectl(team, name, *patch)
    assert (answer.returncode, WARNING in answer.stderr) == (0, True)
    assert team.one("jobs", HELD)["spec"] == before["spec"]
    assert team.pods_of(HELD) == []


@pytest.mark.parametrize("user", USERS.values(), ids=USERS.keys())
def test_nobody_else_starts_a_held_step_by_replacing_it(
    team: Team, user: Callable[[Team], str]
) -> None:
    """`kubectl replace` with suspend off, and whatever else is in the write, starts nothing."""
    before, name = _settled(team), user(team)
    for what, edit in EDITS.items():
        answer = _replace(team, name, _edited(before, edit, suspend=False))
        assert (answer.returncode, WARNING in answer.stderr) == (0, True), what
        stored = team.one("jobs", HELD)
        assert is_suspended(stored), what
        assert stored["metadata"]["labels"][STEP_QUEUE] == "gpu", what
        assert stored["metadata"]["labels"][QUEUE] == "gpu", what
        assert team.pods_of(HELD) == [], what
        answer = _replace(team, "admin", _edited(before, _with_nothing_else, suspend=True))
        assert answer.returncode == 0, what


@pytest.mark.exempt(
    *(Invariant.ADMISSION, Invariant.QUOTA),
    because="Kueue's way with a queued Job is to stop it after it has begun",
)
def test_a_job_that_is_taken_from_its_jobset_first_is_stopped_by_kueue(team: Team) -> None:
    """In two writes alice makes the Job her own: by design it is a queued Job of Kueue's then.

    A Job that no JobSet owns is not ours (a lone Job with a queue is Kueue's alone), so the second
    write passes, and Kueue stops what it has not admitted.
    """
    before = _settled(team)
    for suspend in (True, False):
        answer = _replace(team, "alice", _edited(before, _without_owner, suspend=suspend))
        assert answer.returncode == 0
    eventually(lambda: is_suspended(team.one("jobs", HELD)), "Kueue stops the Job")
    eventually(lambda: not team.pods_of(HELD), "its pods are gone")


def _settled(team: Team) -> Object:
    """The held Job, when its controller has seen it."""

    def look() -> Object | None:
        found = team.one("jobs", HELD)
        return found if "Suspended" in conditions(found) else None

    return eventually(look, "the Job controller has seen the Job")


def _edited(job: Object, edit: Callable[[Object], None], *, suspend: bool) -> Object:
    """The Job after an edit of its metadata, to be written whatever is stored by now."""
    copy = deepcopy(job)
    del copy["metadata"]["resourceVersion"]
    copy["spec"]["suspend"] = suspend
    edit(copy["metadata"])
    return copy


def _replace(team: Team, user: str, job: Object) -> subprocess.CompletedProcess[str]:
    """The answer, once no write of a controller has come in between."""

    def answer() -> subprocess.CompletedProcess[str] | None:
        done = _kubectl(team, user, "replace", "-f", "-", stdin=json.dumps(job))
        return None if "the object has been modified" in done.stderr else done

    return eventually(answer, "an answer other than a conflict")


def _kubectl(
    team: Team, user: str, *arguments: str, stdin: str | None = None
) -> subprocess.CompletedProcess[str]:
    """What became of it: warnings are in its stderr."""
    return ran(team.cluster, "-n", team.namespace, *arguments, user=user, stdin=stdin)
