"""Values of the labels that we move or carry: Kueue's own rules, at the parent (C17)."""

import pytest

from tests.rules.factories import (
    MAX_EXEC,
    MODE,
    PRIORITY,
    Obj,
    Q,
    S,
    cases,
    labelled,
    runtime_facts,
    stored_trainjob,
    trainjob,
    user_jobset,
)
from tests.rules.reviews import Decision, create, decide, update

BAD_NAMES: dict[str, str] = {
    "upper case and underscore": "Team_A",
    "a space": "team a",
    "64 characters": "q" * 64,
    "a hyphen at the end": "team-",
    "a hyphen at the beginning": "-team",
    "a dot at the end": "team.",
    "two dots": "a..b",
    "a slash": "a/b",
    "a newline at the end": "team\n",
    "letters that are not ASCII": "téam",
    "digits that are not ASCII": "team\u0661",
    "a control character": "a\x00b",
}
GOOD_NAMES = ("a", "9", "gpu-q", "a.b-c.d9", "q" * 63, "default")
BAD_SECONDS = ("2h", "0", "-5", "1.5", "", " 5", "5 ", "1e3", "00", "\u0663", "5\n", "9" * 40)
GOOD_SECONDS = ("1", "60", "7200", "2147483647")


def _both(labels: Obj) -> tuple[Decision, Decision]:
    return (
        decide(create(trainjob(labels)), runtime_facts()),
        decide(create(user_jobset(labels))),
    )


def _assert_denied(decision: Decision, key: str) -> None:
    assert not decision.allowed
    assert decision.patch is None
    assert decision.code == 422
    assert decision.message.startswith(f"metadata.labels[{key}]")
    assert decision.response["status"]["reason"] == "Invalid"


@cases({"an empty name": "", **BAD_NAMES})
@pytest.mark.parametrize("key", [Q, S])
def test_a_queue_that_no_localqueue_can_be_called_is_denied(key: str, case: str) -> None:
    """A queue name is checked before it moves where nobody checks it (C17)."""
    for decision in _both({Q: "gpu-q", key: case} if key == Q else {Q: "gpu-q", S: case or "-"}):
        _assert_denied(decision, key)


@pytest.mark.parametrize("queue", GOOD_NAMES)
def test_a_queue_that_a_localqueue_can_be_called_is_taken(queue: str) -> None:
    """Every DNS-1123 subdomain that fits a label is a queue name (C17)."""
    for decision in _both({Q: queue}):
        assert decision.stored["metadata"]["labels"] == {S: queue}


@cases(BAD_NAMES)
def test_a_priority_class_that_there_cannot_be_is_denied(case: str) -> None:
    """A priority class is checked before it is carried to the steps (C17)."""
    for decision in _both({Q: "gpu-q", PRIORITY: case}):
        _assert_denied(decision, PRIORITY)


@pytest.mark.parametrize("seconds", BAD_SECONDS)
def test_an_execution_time_that_is_no_positive_integer_is_denied(seconds: str) -> None:
    """max-exec-time-seconds is checked before it is carried to the steps (C17)."""
    for decision in _both({Q: "gpu-q", MAX_EXEC: seconds}):
        _assert_denied(decision, MAX_EXEC)


@pytest.mark.parametrize("seconds", GOOD_SECONDS)
def test_a_positive_execution_time_is_taken(seconds: str) -> None:
    """Whole seconds from one up pass."""
    for decision in _both({Q: "gpu-q", MAX_EXEC: seconds}):
        assert decision.stored["metadata"]["labels"] == {S: "gpu-q", MAX_EXEC: seconds}


def test_a_bad_queue_is_denied_for_a_whole_parent_too() -> None:
    """The same words for the same mistake, stepped or not (C17)."""
    body = create(trainjob({Q: "Team_A"}, {MODE: "whole"}))
    _assert_denied(decide(body, runtime_facts()), Q)


def test_the_message_shows_the_value_and_the_way_out() -> None:
    """A user reads the path, the value, the rule and what to write instead (C17)."""
    message = decide(create(trainjob({Q: "Team_A"})), runtime_facts()).message
    assert '"Team_A"' in message
    assert "lower case" in message
    assert "LocalQueue" in message


def test_labels_of_others_are_not_checked() -> None:
    """The labels of an object that asks for no queue are not our business."""
    for decision in _both({PRIORITY: "Bad_Class", MAX_EXEC: "2h"}):
        assert decision.allowed
        assert decision.patch is None


def test_a_changed_priority_is_left_to_kueue_on_update() -> None:
    """Later changes of the priority class are judged by Kueue's validator (C19)."""
    old = stored_trainjob({S: "gpu-q", PRIORITY: "low"})
    for value in ("high", "Bad_Class", None):
        assert decide(update(labelled(old, {PRIORITY: value}), old)).patch is None


@pytest.mark.parametrize(("key", "value"), [(MAX_EXEC, "2h"), (PRIORITY, "Not_A_Name")])
def test_a_bad_value_is_denied_when_an_update_brings_it(key: str, value: str) -> None:
    """C17: what a create would refuse can't come in by an update either."""
    stored = stored_trainjob()
    _assert_denied(decide(update(labelled(stored, {key: value}), stored)), key)


def test_a_bad_value_that_is_stored_already_blocks_nothing() -> None:
    """An object from before a rule was made can still be updated and finished."""
    stored = labelled(stored_trainjob(), {MAX_EXEC: "2h"})
    assert decide(update(stored, stored)).allowed


UNKNOWN: dict[str, tuple[Obj, Obj, str]] = {
    "a misspelt annotation": (
        {},
        {"kueue-steps.io/step-queue": "node=gpu"},
        "annotation kueue-steps.io/step-queue",
    ),
    "another spelling": ({}, {"kueue-steps.io/Mode": "step"}, "annotation kueue-steps.io/Mode"),
    "an annotation set as a label": ({MODE: "step"}, {}, f"label {MODE}"),
    "a label set as an annotation": ({}, {S: "gpu-q"}, f"annotation {S}"),
}


@cases(UNKNOWN)
def test_a_key_of_ours_that_nobody_reads_is_warned_of(case: tuple[Obj, Obj, str]) -> None:
    """Whoever wrote it believes that it has an effect."""
    labels, annotations, place = case
    known = {MODE: "step", "example.com/step-queue": "a"}
    for parent in (trainjob, user_jobset):
        made = parent({Q: "gpu-q", **labels}, {**known, **annotations})
        decision = decide(create(made), runtime_facts())
        told = f"{place} is not read; annotations {MODE} and kueue-steps.io/step-queues are"
        assert [line for line in decision.warnings if "is not read" in line] == [told]
        assert decision.allowed


def test_a_number_without_quotes_is_told_as_one() -> None:
    """YAML makes a number of it, and labels are text."""
    decision = decide(create(trainjob({Q: "gpu-q", MAX_EXEC: 3600})))
    assert decision.message.startswith("metadata.labels[")
    assert 'put a number, true or false in quotes, as in "60"' in decision.message
