"""Hypothesis strategies: objects of the three kinds, and objects bent out of shape."""

import copy
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

from tests.rules.factories import (
    ANCESTOR,
    JOB_CONTROLLER,
    JOBSET,
    KUEUE,
    MAX_EXEC,
    MODE,
    PAUSED,
    PERSON,
    PODSET_GROUP,
    PRIORITY,
    STEP_QUEUES,
    SUBMITTED,
    TRAINER,
    Obj,
    Q,
    S,
    changed,
    child_job,
    step,
    trainer_jobset,
    trainjob,
    user_jobset,
)
from webhook.rules.policy import Kueue, Mode, Policy

FRAMEWORKS = ["batch/job", "jobset.x-k8s.io/jobset", "trainer.kubeflow.org/trainjob"]

SUSPENDS: list[Obj] = [{}, {"suspend": True}, {"suspend": False}, {"suspend": None}]
PODS: list[Obj] = [{}, {"tolerations": [{"key": "a"}]}, {"tolerations": []}]

texts = st.sampled_from(["", "a", "a/b", "a~b/c", "~0", "~1", "/", "é"]) | st.text(max_size=5)
queues = st.sampled_from(["default", "gpu-q", "cpu-q", "a.b"])
users = st.sampled_from([KUEUE, JOBSET, TRAINER, PERSON, JOB_CONTROLLER, ""])
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda below: st.lists(below, max_size=3) | st.dictionaries(texts, below, max_size=3),
    max_leaves=6,
)


@st.composite
def labels(draw: st.DrawFn, *, ours: bool = True) -> Obj:
    """Labels of others, and ours and Kueue's where wanted."""
    made: Obj = draw(st.dictionaries(texts, texts, max_size=2))
    if ours:
        for key, values in (
            (Q, queues),
            (S, queues),
            (PRIORITY, st.just("low")),
            (MAX_EXEC, st.just("60")),
        ):
            if draw(st.booleans()):
                made[key] = draw(values)
    return made


@st.composite
def annotations(draw: st.DrawFn) -> Obj:
    """Annotations of others and ours."""
    made: Obj = draw(st.dictionaries(texts, texts, max_size=2))
    for key, values in (
        (MODE, ["auto", "step", "whole"]),
        (SUBMITTED, ["true", "false"]),
        (PAUSED, ["true", ""]),
        (STEP_QUEUES, ["a=cpu", "", "b = x, a=y"]),
    ):
        if draw(st.integers(0, 3)) == 0:
            made[key] = draw(st.sampled_from(values))
    return made


@st.composite
def with_metadata(draw: st.DrawFn, obj: Obj, *, ours: bool = True) -> Obj:
    """The object with other labels and annotations, missing or null ones included."""
    result = changed(obj, {"metadata": {"labels": None, "annotations": None}})
    for key, values in (("labels", labels(ours=ours)), ("annotations", annotations())):
        value = draw(st.none() | st.just(...) | values)
        if value is not ...:
            result["metadata"][key] = value
    return result


@st.composite
def steps(draw: st.DrawFn) -> list[Obj]:
    """Up to four steps with edges to earlier ones, gangs included."""
    names = ["a", "b", "c", "d"][: draw(st.integers(1, 4))]
    made = []
    for place, name in enumerate(names):
        after = draw(st.lists(st.sampled_from(names[:place] or [""]), unique=True, max_size=2))
        status = draw(st.sampled_from(["Complete", "Complete", "Complete", "Ready"]))
        one = step(name, *(after if place else ()), status=status)
        kept = draw(st.sampled_from(["all", "all", "labels", "null", "no metadata"]))
        if kept == "all":
            one["template"]["metadata"]["labels"] |= draw(labels())
        elif kept == "labels":
            one["template"]["metadata"] = {"labels": draw(labels())}
        elif kept == "null":
            one["template"]["metadata"] = {"labels": None}
        else:
            del one["template"]["metadata"]
        if draw(st.integers(0, 5)) == 0:
            one["replicas"] = 2
        if draw(st.integers(0, 5)) == 0:
            pods = one["template"]["spec"]["template"]
            pods["metadata"]["annotations"] = {PODSET_GROUP: "g"}
        if draw(st.integers(0, 3)) == 0 and one["template"].get("metadata", {}).get("labels"):
            one["template"]["metadata"]["labels"][ANCESTOR] = "dataset-initializer"
        made.append(one)
    return made


@st.composite
def objects(draw: st.DrawFn, kind: str, *, ours: bool = True) -> Obj:
    """A well-formed object of a kind: TrainJob, JobSet or Job."""
    suspend: Obj = draw(st.sampled_from(SUSPENDS))
    if kind == "TrainJob":
        return draw(with_metadata(trainjob(**suspend), ours=ours))
    if kind == "JobSet":
        made = user_jobset(steps=draw(steps()), **suspend)
        if draw(st.booleans()):
            made = trainer_jobset(made["spec"]["replicatedJobs"], **suspend)
        return draw(with_metadata(made, ours=ours))
    pods: Obj = draw(st.sampled_from(PODS))
    job = child_job(**pods)
    job["spec"] = {**job["spec"], **suspend}
    return draw(with_metadata(job, ours=ours))


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    """Any policy, the impossible ones included."""
    return Policy(
        default_mode=draw(st.sampled_from(list(Mode))),
        allow_mode_override=draw(st.booleans()),
        kueue=Kueue(
            frameworks=draw(
                st.frozensets(st.sampled_from(FRAMEWORKS)) | st.just(frozenset(FRAMEWORKS))
            ),
            manages_without_queue_name=draw(st.integers(0, 3)) == 0,
        ),
    )


@st.composite
def bent(draw: st.DrawFn, obj: Obj) -> Any:
    """The object with random JSON at up to two of its places, or random JSON altogether."""
    if draw(st.integers(0, 9)) == 0:
        return draw(json_values)
    result = copy.deepcopy(obj)
    for _ in range(draw(st.integers(1, 2))):
        container, key = draw(st.sampled_from(list(_places(result))))
        if draw(st.integers(0, 3)) == 0:
            del container[key]
        else:
            container[key] = draw(json_values)
        if not list(_places(result)):
            break
    return result


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from _places(value[key])
