"""Names that are too long for Jobs and Pods are told at the parent."""

import pytest

from tests.rules.factories import Obj, cases, changed, runtime_facts, step, trainjob, user_jobset
from tests.rules.reviews import create, decide


def _named(parent: Obj, length: int) -> Obj:
    return changed(parent, {"metadata": {"name": "n" * length}})


def _generated(parent: Obj, length: int) -> Obj:
    return changed(parent, {"metadata": {"name": None, "generateName": "n" * length}})


def _indexed(name: str, *after: str, pods: int | None = None, **job: object) -> Obj:
    spec = {"completions": pods, "completionMode": "Indexed", **job}
    return changed(step(name, *after), {"template": {"spec": spec}})


def _excess(parent: Obj) -> int:
    """By how much the name is too long, 0 where nothing is said."""
    said = [
        warning
        for warning in decide(create(parent), runtime_facts()).warnings
        if warning.startswith("the name is too long by ")
    ]
    return int(said[0].split()[6]) if said else 0


# "-train-0" and, for the Pods of indexed Jobs, "-0-abcde".
JOBSETS: dict[str, tuple[Obj, int]] = {
    "the longest name of a Job": (_indexed("train"), 63 - 8),
    "the longest name of a Pod": (_indexed("train", pods=1), 63 - 16),
    "a hundred Pods": (_indexed("train", pods=100), 63 - 17),
    "a Job whose mode JobSet fills in": (
        _indexed("train", pods=1, completionMode=None),
        63 - 16,
    ),
    "a Job that is not indexed, whose Pods' names may be longer": (
        _indexed("train", pods=100, completionMode="NonIndexed"),
        63 - 8,
    ),
    "twenty replicas": (_indexed("train") | {"replicas": 20}, 63 - 9),
    "a longer name of another step": (_indexed("train-more"), 63 - 13),
}


@cases(JOBSETS)
def test_a_jobsets_name_may_be_so_long(case: tuple[Obj, int]) -> None:
    """What JobSet would refuse is counted as JobSet counts it, to the character."""
    last, longest = case
    jobset = user_jobset(steps=[step("a"), last])
    assert _excess(_named(jobset, longest)) == 0
    assert _excess(_named(jobset, longest + 1)) == 1
    assert _excess(_named(jobset, longest + 7)) == 7


def test_a_generated_name_counts_with_what_is_added() -> None:
    """The API server adds five characters, and cuts the prefix for them."""
    jobset = user_jobset(steps=[step("a"), _indexed("train")])
    assert _excess(_generated(jobset, 50)) == 0
    assert _excess(_generated(jobset, 51)) == 1
    assert _excess(_generated(jobset, 200)) == 8


@pytest.mark.parametrize(("nodes", "longest"), [(1, 48), (10, 48), (11, 47), (101, 46)])
def test_a_trainjobs_nodes_count(nodes: int, longest: int) -> None:
    """The TrainJob says how many Pods train, whatever the runtime says: "-node-0-<n>-abcde"."""
    steps = [_indexed("node", pods=1)]
    steps[0]["template"]["metadata"]["labels"]["trainer.kubeflow.org/trainjob-ancestor-step"] = (
        "trainer"
    )
    parent = trainjob(trainer={"numNodes": nodes})
    for length, said in ((longest, False), (longest + 1, True)):
        warnings = decide(create(_named(parent, length)), runtime_facts(steps)).warnings
        assert any("too long" in warning for warning in warnings) == said


def test_a_whole_parent_is_told_too() -> None:
    """Kueue admits it whole, and then its Jobs could not be made."""
    gang = user_jobset(steps=[step("a"), _indexed("b") | {"replicas": 3}])
    assert _excess(_named(gang, 63)) == 4
