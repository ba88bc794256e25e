"""`kueue-steps steps` against the real control plane, in each state, as text and as JSON."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest

from localcluster.errors import KubectlError
from localcluster.invariants.violation import Invariant
from localcluster.kwok import FAIL
from tests.stack.objects import (
    GPU,
    Object,
    job,
    jobset,
    named,
    step,
)
from tests.stack.steps_command import View, cleared, quota, submitted
from tests.stack.team import Team, conditions, eventually

FIRST, SECOND = "dataset-initializer", "model-initializer"
MODE: Final = "kueue-steps.io/mode"
KUEUE: Final = "kueue.x-k8s.io/v1beta2"
LONG: Final = "600s"
QUOTA: Final = "insufficient quota for nvidia.com/gpu in flavor default"


@pytest.fixture
def new_team(new_team: Callable[..., Team]) -> Iterator[Callable[..., Team]]:
    """Teams whose work is gone afterwards: some of it would hold GPUs for long."""
    with cleared(new_team) as create:
        yield create


def test_a_trainjob_from_the_queue_to_its_end(team: Team) -> None:
    """Downloads queued, running, done; the training step waits, is queued, runs, is done."""
    quota(team, gpus=1, cpus=0)
    view = submitted(team)
    # Kueue tries one of several alike, and tells its reason there.
    queued = eventually(lambda: _told(view, FIRST) or _told(view, SECOND), "Kueue's reason")
    name = queued["name"]
    assert "insufficient quota for cpu in flavor default" in queued["message"]
    assert (queued["queue"], queued["job"]) == ("gpu", f"tune-{name}-0")
    assert _is_recent(queued["since"])
    assert queued["requests"] == {"cpu": "1", "memory": "1Gi"}
    waiting = view.step("node")
    assert (waiting["state"], waiting["waitsFor"], waiting["job"]) == (
        "waiting",
        [FIRST, SECOND],
        None,
    )
    assert waiting["gpus"] == {GPU: "8"}
    assert view.line(name).split()[1:4] == [name, "queued", "gpu"]
    assert "insufficient quota for cpu" in view.line(name)
    assert view.line("node").endswith(f"waits for {FIRST}, {SECOND}")

    eventually(lambda: view.step(FIRST)["secondsQueued"], "a second in the queue")
    quota(team, gpus=1)
    node = eventually(lambda: _told(view, "node"), "Kueue's reason")
    assert QUOTA in node["message"]
    assert [view.step(name)["state"] for name in (FIRST, SECOND)] == ["done", "done"]
    done = view.step(FIRST)
    assert done["secondsRun"] >= 1
    assert done["secondsQueued"] >= 1
    assert done["clusterQueue"] == team.namespace
    assert "2 of 3 steps done" in view.text()

    quota(team)
    running = view.await_state("node", "running")
    assert running["flavors"] == {"cpu": "default", "memory": "default", GPU: "default"}
    assert running["pods"]["total"] == 1
    parent = view.await_parent("done")
    assert (parent["kind"], parent["admission"]) == ("TrainJob", "step")
    assert parent["record"] == {"kueue-steps.io/queue-name": "gpu"}
    assert {one["state"] for one in parent["steps"]} == {"done"}
    assert view.text().splitlines()[1].split()[:3] == [
        "TrainJob",
        f"{team.namespace}/tune",
        "done",
    ]


def test_a_step_that_runs_shows_its_ready_pods(team: Team) -> None:
    """Ready ones and all of them, in both forms."""
    view = submitted(team, times={"download": "1s", "train": LONG})
    eventually(lambda: view.step("node")["pods"]["ready"] == 1, "a ready Pod")
    assert view.step("node")["state"] == "running"
    cells = view.line("node").split()
    assert cells[1:5] == ["node", "running", "gpu", "1/1"]
    assert view.line("node").endswith("flavor default")


def test_a_paused_trainjob_and_one_that_goes_on(team: Team) -> None:
    """Who is suspended is told; afterwards it is queued or runs again, without an eviction."""
    view = submitted(team, times={"download": "1s", "train": LONG})
    view.await_state("node", "running")
    team.suspend("trainjob", "tune", True)
    paused = view.await_state("node", "paused")
    assert paused["message"] == "TrainJob tune is suspended"
    assert view.parent()["state"] == "paused"
    assert view.line("node").endswith("TrainJob tune is suspended")
    eventually(
        lambda: "Admitted" not in conditions(team.workload_of("tune-node-0")), "the quota is back"
    )
    quota(team, gpus=1)
    team.suspend("trainjob", "tune", False)
    back = view.await_state("node", "queued")
    assert back["eviction"] is None
    quota(team)
    view.await_state("node", "running")


def test_an_evicted_step_says_why_and_where_it_waits(team: Team) -> None:
    """Preempted by a more important one: why, and the queue it is in again."""
    quota(team, preemption={"withinClusterQueue": "LowerPriority"})
    high = named("WorkloadPriorityClass", KUEUE, f"high-{team.namespace}", None) | {"value": 100}
    team.apply([high])
    view = submitted(team, times={"download": "1s", "train": LONG})
    view.await_state("node", "running")
    labels = team.label | {"kueue.x-k8s.io/priority-class": high["metadata"]["name"]}
    urgent = jobset(
        "urgent", team.namespace, labels, step("a", gpus=8, run_for=LONG), step("b", "a")
    )
    team.submit(urgent)
    view.await_state("node", "evicted")
    evicted = eventually(lambda: _told(view, "node"), "Kueue's new reason")
    assert evicted["state"] == "evicted"
    assert evicted["eviction"]["reason"] == "Preempted"
    assert evicted["eviction"]["message"].startswith("Preempted to accommodate a workload")
    assert _is_recent(evicted["eviction"]["time"])
    assert "insufficient unused quota for nvidia.com/gpu" in evicted["message"]
    line = view.line("node")
    assert line.split()[1:4] == ["node", "evicted", "gpu"]
    assert "Preempted to accommodate a workload" in line
    assert "; queued again since " in line


def test_a_step_of_a_queue_that_is_drained_is_not_in_it(team: Team) -> None:
    """Kueue puts it back when the queue is open again."""
    view = submitted(team, times={"download": "1s", "train": LONG})
    view.await_state("node", "running")
    quota(team, stopPolicy="HoldAndDrain")
    evicted = view.await_state("node", "evicted")
    assert evicted["eviction"]["reason"] == "ClusterQueueStopped"
    eventually(
        lambda: "Kueue does not put it back into its queue yet" in view.line("node"),
        "that it is not in the queue",
    )
    quota(team)
    view.await_state("node", "running")


def test_a_step_that_waits_for_an_admission_check_names_it(team: Team) -> None:
    """Quota is reserved by then, and the flavors are known."""
    check = named("AdmissionCheck", KUEUE, f"budget-{team.namespace}", None)
    name = check["metadata"]["name"]
    team.apply([check | {"spec": {"controllerName": "example.com/budget"}}])
    active = {
        "type": "Active",
        "status": "True",
        "reason": "Active",
        "message": "",
        "lastTransitionTime": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
    }
    team.cluster.kubectl(
        *("patch", "admissioncheck", name, "--subresource=status", "--type=merge", "-p"),
        json.dumps({"status": {"conditions": [active]}}),
    )
    quota(team, admissionChecksStrategy={"admissionChecks": [{"name": name}]})
    view = submitted(team)
    words = f"quota reserved, waits for admission check {name} (Pending)"
    held = eventually(lambda: _said(view, FIRST, words), words)
    assert held["state"] == "queued"
    assert (held["reason"], held["clusterQueue"]) == ("QuotaReserved", team.namespace)
    assert held["flavors"]["cpu"] == "default"
    assert view.line(FIRST).endswith(words)


@pytest.fixture
def nobody_starts(team: Team) -> Iterator[None]:
    """Kueue may admit Jobs of the team, but is kept from starting them."""
    name = f"never-{team.namespace}"
    admission = "admissionregistration.k8s.io/v1"
    rule = {
        "apiGroups": ["batch"],
        "apiVersions": ["v1"],
        "operations": ["UPDATE"],
        "resources": ["jobs"],
    }
    policy = named("ValidatingAdmissionPolicy", admission, name, None) | {
        "spec": {
            "matchConstraints": {"resourceRules": [rule]},
            "validations": [{"expression": "!oldObject.spec.suspend || object.spec.suspend"}],
        }
    }
    place = {"matchLabels": {"kubernetes.io/metadata.name": team.namespace}}
    binding = named("ValidatingAdmissionPolicyBinding", admission, name, None) | {
        "spec": {
            "policyName": name,
            "validationActions": ["Deny"],
            "matchResources": {"namespaceSelector": place},
        }
    }
    team.cluster.apply([policy, binding])
    eventually(lambda: _is_kept_from_starting(team), "the API server follows the policy")
    yield
    for kind in ("validatingadmissionpolicybinding", "validatingadmissionpolicy"):
        team.cluster.kubectl("delete", kind, name, "--ignore-not-found")


def _is_kept_from_starting(team: Team) -> bool:
    """Tried out on a Job that Kueue does not know, by a write that is not stored."""
    canary = job("canary", team.namespace, {})
    canary["spec"]["suspend"] = True
    team.apply([canary])
    started = json.dumps({"spec": {"suspend": False}})
    where = ("job", "canary", "-n", team.namespace, "--dry-run=server", "--type=merge")
    try:
        team.cluster.kubectl("patch", *where, "-p", started)
    except KubectlError as error:
        if "ValidatingAdmissionPolicy" not in error.stderr:
            raise
        return True
    return False


@pytest.mark.exempt(Invariant.START, because="Kueue is kept from starting the step")
def test_a_step_that_is_admitted_and_not_started(team: Team, nobody_starts: None) -> None:
    """The flavors are told, and no time is counted as run."""
    team.submit(
        jobset("probe", team.namespace, team.label, step("a", run_for="1s"), step("b", "a"))
    )
    held = View(team, "probe").await_state("a", "admitted")
    assert held["flavors"] == {"cpu": "default", "memory": "default"}
    assert held["secondsRun"] is None
    cells = View(team, "probe").line("a").split()
    assert cells[1:5] == ["a", "admitted", "gpu", "1"]


def test_a_step_that_failed_and_one_that_is_never_made(team: Team) -> None:
    """The Job's own reason; what came after it has ended without it."""
    failing = step("a", run_for="1s")
    failing["template"]["spec"]["backoffLimit"] = 0
    failing["template"]["spec"]["template"]["metadata"]["annotations"][FAIL] = "true"
    team.submit(jobset("tune", team.namespace, team.label, failing, step("b", "a")))
    view = View(team, "tune")
    parent = view.await_parent("failed")
    failed, never = parent["steps"]
    assert parent["reason"] == "FailedJobs"
    assert (failed["state"], failed["reason"]) == ("failed", "BackoffLimitExceeded")
    assert (never["state"], never["message"]) == ("not-made", "its JobSet has ended without it")
    assert parent["kind"] == "JobSet"
    assert "BackoffLimitExceeded: Job has reached the specified backoff limit" in view.line("a")
    assert view.line("b").endswith("its JobSet has ended without it")


def _told(view: View, name: str) -> Object | None:
    """A step that Kueue has given a reason for."""
    found = view.step(name)
    return found if found["reason"] and found["state"] in {"queued", "evicted"} else None


def _said(view: View, name: str, words: str) -> Object | None:
    """A step of which just this is said."""
    found = view.step(name)
    return found if found["message"] == words else None


def _is_recent(moment: str) -> bool:
    age = datetime.now(UTC) - datetime.fromisoformat(moment)
    return timedelta(seconds=-2) <= age < timedelta(minutes=5)
