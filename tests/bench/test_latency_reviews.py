"""Which recorded reviews are measured, and in which loads."""

import json
import os
from collections import Counter
from typing import Any

import pytest

from bench import meter
from bench.latency import decision, plan, submissions
from bench.latency.contenders import Side
from bench.latency.plan import Cell, Group
from bench.latency.reviews import KUEUE_PATHS, Review, Size, What, find, source
from webhook.rules import names
from webhook.rules.facts import Absent, Answer, Found, Key
from webhook.rules.policy import Policy

JOBSET_USER = min(names.JOBSET_USERS)


def posted(
    resource: str, operation: str, name: str, user: str = "alice", **suspended: Any
) -> dict[str, Any]:
    """A request as far as it is looked at; `new` and `old` say whether a Job is suspended."""
    new, old = suspended.get("new"), suspended.get("old")
    return {
        "uid": "u",
        "resource": {"group": "g", "version": "v1", "resource": resource},
        "operation": operation,
        "name": name,
        "userInfo": {"username": user, "groups": []},
        "object": {"metadata": {}, "spec": {} if new is None else {"suspend": new}},
        "oldObject": None if old is None else {"spec": {"suspend": old}},
        "dryRun": suspended.get("dry_run", False),
    }


def start(name: str, user: str) -> dict[str, Any]:
    """An UPDATE that starts a Job."""
    return posted("jobs", "UPDATE", name, user, new=False, old=True)


FOUND = {
    "a TrainJob by its user": (
        posted("trainjobs", "CREATE", "median"),
        {(What.TRAINJOB_CREATE, Size.MEDIAN)},
    ),
    "its JobSet": (posted("jobsets", "CREATE", "huge"), {(What.JOBSET_CREATE, Size.HUGE)}),
    "the Job of its last step": (
        posted("jobs", "CREATE", "small-node-0"),
        {(What.JOB_CREATE, Size.SMALL)},
    ),
    "a start by JobSet": (
        start("half-large-node-0", JOBSET_USER),
        {(What.JOB_UPDATE_BY_JOBSET, Size.LARGE)},
    ),
    "a start by Kueue": (
        start("median-node-0", names.KUEUE_USER),
        {(What.JOB_UPDATE_BY_KUEUE, Size.MEDIAN)},
    ),
    "a start by hand": (start("median-node-0", "alice"), {(What.JOB_UPDATE_BY_USER, Size.MEDIAN)}),
    "an UPDATE that is too large for its size": (start("large-node-0", "alice"), set()),
    "a CREATE that is too small for its size": (posted("trainjobs", "CREATE", "half-huge"), set()),
    "an UPDATE that suspends": (
        posted("jobs", "UPDATE", "median-node-0", new=True, old=False),
        set(),
    ),
    "a Job of another step": (posted("jobs", "CREATE", "median-model-initializer-0"), set()),
    "a dry run": (posted("trainjobs", "CREATE", "median", dry_run=True), set()),
    "an UPDATE of a JobSet": (posted("jobsets", "UPDATE", "median"), set()),
    "somebody else's TrainJob": (posted("trainjobs", "CREATE", "other"), set()),
}


@pytest.mark.parametrize("sentence", FOUND)
def test_a_recorded_review_is_recognised(sentence: str) -> None:
    """By who wrote what, and by the name of what was submitted."""
    request, expected = FOUND[sentence]
    body = json.dumps({"kind": "AdmissionReview", "request": request}).encode()
    found = find(body)
    assert {(item.what, item.size) for item in found} == expected
    assert all((item.body, item.uid) == (body, "u") for item in found)


def test_every_review_comes_of_something_that_is_submitted() -> None:
    """No review is waited for in vain."""
    submitted = {item.name for item in submissions.SUBMISSIONS}
    assert {source(what, size) for what in What for size in Size} <= submitted


def test_a_submission_is_about_as_large_as_it_says() -> None:
    """JSON escapes quotes: what counts is the size on the wire."""
    for item in submissions.SUBMISSIONS:
        size = len(json.dumps(submissions.trainjob(item, "place")))
        assert item.size * 0.7 <= size <= item.size * 1.05 + 1024


def test_paths_carry_the_time_out_as_an_api_server_sends_it() -> None:
    """The same bytes go to ours and to Kueue's path of the kind."""
    review = Review(What.JOB_CREATE, Size.MEDIAN, b"")
    assert review.our_path == "/mutate?timeout=5s"
    assert review.kueue_path == "/mutate-batch-v1-job?timeout=5s"
    assert set(KUEUE_PATHS) == set(What)


def test_sides_take_turns_in_both_orders() -> None:
    """A B, then B A."""
    cell = plan.full(2).cells[0]
    assert cell.in_order(0) == (Side.OURS, Side.KUEUE, Side.FLOOR)
    assert cell.in_order(1) == (Side.FLOOR, Side.KUEUE, Side.OURS)


def test_the_full_plan_has_what_was_promised() -> None:
    """Every kind and size, 1, 25 and 200 connections, an open loop; in a quarter of an hour."""
    full = plan.full(5)
    reviews = {item for cell in full.cells for item in cell.reviews}
    assert {what for what, _ in reviews} == set(What)
    assert {size for _, size in reviews} == set(Size)
    assert {cell.load.connections for cell in full.cells} == {1, 25, 200}
    assert any(cell.load.rate == 1000 for cell in full.cells)
    assert all(Side.FLOOR in cell.sides for cell in full.cells if cell.group is Group.USUAL)
    assert full.seconds < 13 * 60  # The rest is for starting and recording.


def test_a_quick_plan_asks_for_no_large_reviews() -> None:
    """They take the longest to record."""
    quick = plan.quick()
    assert {size for _, size in quick.reviews} == {Size.SMALL, Size.MEDIAN}
    assert quick.seconds < 90


def test_no_cell_is_measured_under_two_names() -> None:
    """Repeats are found by the name of their cell."""
    counts = Counter((cell.group, cell.title) for cell in plan.full(1).cells)
    assert max(counts.values()) == 1
    assert all(isinstance(cell, Cell) for cell in plan.full(1).cells)


def test_objects_are_read_where_the_api_server_has_them() -> None:
    """The core group has a root of its own."""
    assert decision.path(Key("", "v1", "namespaces", "a")) == "/api/v1/namespaces/a"
    trainjob = Key("g.io", "v1", "things", "n", "place")
    assert decision.path(trainjob) == "/apis/g.io/v1/namespaces/place/things/n"


def review_of_a_job() -> dict[str, Any]:
    """A Job that JobSet starts, and that is held."""
    labels = {names.QUEUE: "q", names.STEP_QUEUE: "q"}
    owner = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": "j", "uid": "1"}
    head = {"name": "j-node-0", "labels": labels, "ownerReferences": [owner | {"controller": True}]}
    template: dict[str, Any] = {"template": {"spec": {"containers": []}}}
    request = start("j-node-0", JOBSET_USER)
    request["resource"] = {"group": "batch", "version": "v1", "resource": "jobs"}
    request["object"] = {"metadata": head, "spec": template | {"suspend": False}}
    request["oldObject"] = {"metadata": head, "spec": template | {"suspend": True}}
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}


def test_the_decision_is_timed_whole() -> None:
    """From bytes to bytes, with the reason that the verdict gives."""
    body = json.dumps(review_of_a_job()).encode()
    recorded = Review(What.JOB_UPDATE_BY_JOBSET, Size.MEDIAN, body)
    found = decision.timing(recorded, {}, Policy(), rounds=20)
    assert found.reason == "Held"
    assert 0 < found.fastest <= found.median <= found.p99
    assert b'"patch"' in decision.decide(body, {}, Policy())


def test_what_the_rules_ask_for_is_read_once() -> None:
    """One answer may lead to the next question."""
    asked: list[Key] = []

    def read(key: Key) -> Answer:
        asked.append(key)
        return Found({"spec": {"template": {"spec": {"replicatedJobs": []}}}})

    request = posted("trainjobs", "CREATE", "t")
    request["resource"] = {
        "group": names.TRAINER_GROUP,
        "version": "v1alpha1",
        "resource": "trainjobs",
    }
    request["namespace"] = "place"
    ref = {"apiGroup": names.TRAINER_GROUP, "kind": "TrainingRuntime", "name": "r"}
    labels = {names.QUEUE: "q"}
    request["object"] = {"metadata": {"labels": labels}, "spec": {"runtimeRef": ref}}
    review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}
    facts = decision.facts_for(json.dumps(review).encode(), read, Policy())
    assert len(asked) == len(set(asked)) == len(facts) > 0
    assert Absent() not in facts.values()


def test_the_kernel_knows_this_process() -> None:
    """Its memory and its time; and a pin holds for a block only."""
    pid, allowed = os.getpid(), os.sched_getaffinity(0)
    now, peak = meter.memory(pid)
    assert 0 < now <= peak
    assert meter.cpu_seconds(pid) > 0
    with meter.pinned_here({min(allowed)}):
        assert os.sched_getaffinity(0) == {min(allowed)}
    assert os.sched_getaffinity(0) == allowed
