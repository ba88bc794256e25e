"""Held writes: what JobSet's merge does to a Job's lists, and what passes (C01)."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rules.factories import JOBSET, KUEUE, PAUSED, PERSON, Obj, cases, changed, child_job
from tests.rules.reviews import decide, update

GPU = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
SIX: list[Obj] = [
    GPU,
    {"key": "team", "operator": "Equal", "value": "a", "effect": "NoSchedule"},
    {"key": "spot", "operator": "Exists"},
    {"key": "away", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300},
    {"key": "slow", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 0},
    {"operator": "Exists", "effect": "PreferNoSchedule"},
]
ADDED = {"key": "flavor", "operator": "Equal", "value": "h100", "effect": "NoSchedule"}
GATE = {"name": "kueue.x-k8s.io/topology"}

NO_CHANGE: dict[str, tuple[list[Obj] | None, list[Obj] | None]] = {
    "no list at all": (None, None),
    "one toleration": ([GPU], [GPU]),
    "one toleration, repeated": ([GPU], [GPU, GPU]),
    "six tolerations as they were": (SIX, SIX),
    "six tolerations in another order": (SIX, SIX[::-1]),
    "six tolerations repeated 55 times": (SIX, SIX * 55),
    "two that differ in tolerationSeconds alone": (
        [SIX[3], {**SIX[3], "tolerationSeconds": 60}],
        [{**SIX[3], "tolerationSeconds": 60}, SIX[3], SIX[3]],
    ),
    "a stored list that already holds a repeat": ([GPU, GPU], [GPU, GPU, GPU]),
    "a list that goes missing": (SIX, None),
    "a list of which a part goes missing": (SIX, SIX[:2]),
    "members of an entry in another order": ([GPU], [dict(reversed(GPU.items()))]),
}


def _job(field: str, items: list[Obj] | None, *, suspend: bool) -> Obj:
    pods: dict[str, Any] = {} if items is None else {field: items}
    return child_job(suspend=suspend, **pods)


@cases(NO_CHANGE)
@pytest.mark.parametrize("user", [JOBSET, PERSON])
@pytest.mark.parametrize("field", ["tolerations", "schedulingGates"])
def test_a_held_write_that_changes_nothing_else_is_the_stored_object(
    field: str, user: str, case: tuple[list[Obj] | None, list[Obj] | None]
) -> None:
    """A merge that only reorders, repeats or loses entries stores nothing at all (C01)."""
    before, after = case
    old = _job(field, before, suspend=True)
    new = _job(field, after, suspend=False)
    assert decide(update(new, old, user=user)).stored == old


@settings(max_examples=50)
@given(merged=st.permutations(SIX * 3))
def test_a_random_merge_of_lists_is_undone(merged: list[Obj]) -> None:
    """JobSet's merge comes in random order; none of them makes a write (C01)."""
    old = child_job(tolerations=SIX, schedulingGates=[GATE])
    new = child_job(suspend=False, tolerations=merged, schedulingGates=[GATE, GATE])
    assert decide(update(new, old, user=JOBSET)).stored == old


NEW_ENTRIES: dict[str, tuple[list[Obj] | None, list[Obj], list[Obj]]] = {
    "the first toleration of a Job": (None, [ADDED], [ADDED]),
    "the first toleration, repeated": (None, [ADDED, ADDED], [ADDED]),
    "a new one among the old": ([GPU], [ADDED, GPU, GPU], [GPU, ADDED]),
    "a new one that is like an old one but for tolerationSeconds": (
        [SIX[3]],
        [{**SIX[3], "tolerationSeconds": 60}, SIX[3]],
        [SIX[3], {**SIX[3], "tolerationSeconds": 60}],
    ),
    "a new one beside six": (SIX, [*SIX[3:], ADDED, *SIX], [*SIX, ADDED]),
}


@cases(NEW_ENTRIES)
def test_entries_that_are_really_new_pass_once(
    case: tuple[list[Obj] | None, list[Obj], list[Obj]],
) -> None:
    """The stored list stands and what is new follows it."""
    before, after, stored = case
    old = _job("tolerations", before, suspend=True)
    decision = decide(update(_job("tolerations", after, suspend=False), old, user=JOBSET))
    assert decision.stored == _job("tolerations", stored, suspend=True)


REAL_CHANGES: dict[str, dict[str, Any]] = {
    "a label of the Job": {"metadata": {"labels": {"team": "b"}}},
    "an annotation of the Job": {"metadata": {"annotations": {"a/b~c": "d"}}},
    "a label of the pods": {"spec": {"template": {"metadata": {"labels": {"x/y": "z"}}}}},
    "an annotation of the pods": {"spec": {"template": {"metadata": {"annotations": {"k": "v"}}}}},
    "a label of the pods taken away": {"spec": {"template": {"metadata": {"labels": {}}}}},
    "the nodeSelector": {"spec": {"template": {"spec": {"nodeSelector": {"zone": "a"}}}}},
    "everything together": {
        "metadata": {"labels": {"team": "b"}},
        "spec": {
            "parallelism": 1,
            "template": {"metadata": {"labels": {"p": "q"}}, "spec": {"nodeSelector": {"z": "a"}}},
        },
    },
}


@cases(REAL_CHANGES)
@pytest.mark.parametrize("user", [JOBSET, PERSON])
def test_real_changes_pass_a_held_write(user: str, case: Obj) -> None:
    """A held write keeps every other change that it brings."""
    old = child_job(tolerations=SIX)
    new = changed(child_job(suspend=False, tolerations=SIX[::-1]), case)
    assert decide(update(new, old, user=user)).stored == changed(old, case)


def test_kueues_start_of_a_paused_job_is_held_with_its_lists() -> None:
    """What is held for a pause is held like any other start: lists as stored (C03)."""
    old = child_job(annotations={PAUSED: "true"}, tolerations=SIX)
    new = child_job(annotations={PAUSED: "true"}, suspend=False, tolerations=SIX[::-1])
    assert decide(update(new, old, user=KUEUE)).stored == old


def test_kueues_start_brings_its_flavor_in() -> None:
    """Lists and nodeSelector of an admitted start pass untouched, without a patch."""
    new = child_job(suspend=False, tolerations=[ADDED, GPU], nodeSelector={"flavor": "h100"})
    assert decide(update(new, child_job(tolerations=[GPU]), user=KUEUE)).patch is None


def test_lists_of_a_job_that_stays_suspended_are_nobodys_matter() -> None:
    """Only a start that is held has its lists put back; Kueue's restore of a stopped Job passes."""
    old = child_job(suspend=False, tolerations=[ADDED, GPU], nodeSelector={"flavor": "h100"})
    assert decide(update(child_job(tolerations=[GPU]), old, user=KUEUE)).patch is None


def test_a_start_that_is_taken_back_takes_its_size_along() -> None:
    """Kueue sets completions with parallelism where a Job's annotation couples them."""
    old = changed(child_job(), {"spec": {"parallelism": 4, "completions": 4}})
    paused = changed(old, {"metadata": {"annotations": {PAUSED: "true"}}})
    size = {"suspend": False, "parallelism": 2, "completions": 2}
    new = changed(paused, {"spec": size})
    assert decide(update(new, paused, user=KUEUE)).stored == paused
