"""The preview says what the rules say, and is never surprised: found out by hypothesis."""

import asyncio
import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.rules.factories import Obj, runtime, runtime_facts
from tests.rules.reviews import create, decide
from tests.rules.strategies import bent, objects, policies, steps
from tests.rules.test_properties import quick
from webhook.preview.command import Gaps
from webhook.preview.documents import Document
from webhook.preview.judgement import Judge, Judgement
from webhook.preview.known import Known
from webhook.preview.report import Report, rendered
from webhook.rules import names
from webhook.rules.facts import Absent, Answer, Key, Reader, Unreadable
from webhook.rules.policy import Policy

KINDS = {"TrainJob": "trainer.kubeflow.org/v1alpha1", "JobSet": "jobset.x-k8s.io/v1alpha2"}


NO_DEFAULT = {Key("kueue.x-k8s.io", "v1beta2", "localqueues", "default", "team-a"): Absent()}
"""So that Kueue sends nothing there by itself, which the rules alone know nothing of."""


class Unsaid(Reader):
    """A Reader that knows nothing but that Trainer's objects are not there."""

    async def read(self, key: Key) -> Answer:
        if key in NO_DEFAULT:
            return NO_DEFAULT[key]
        return Absent() if key.group == names.TRAINER_GROUP else Unreadable("not said")


def judged(item: Obj, runtime_object: Obj, policy: Policy) -> Judgement:
    """The parent on this runtime, previewed."""
    head = {"apiVersion": KINDS["TrainJob"], "kind": "ClusterTrainingRuntime"}
    named = {**head, **runtime_object, "metadata": {"name": "torchtune"}}
    known = Known([Document(named, "f:1")], "team-a", Unsaid())
    judge = Judge(known, policy, Gaps(), "team-a")
    return asyncio.run(judge.judge(Document(item, "f:2")))


def shown(judgement: Judgement) -> Any:
    """The report of this one, as a program reads it."""
    return json.loads(rendered(Report([judgement]), "json"))["objects"][0]


@pytest.mark.parametrize("kind", KINDS)
@quick
@given(data=st.data(), policy=policies(), replicated=steps())
def test_it_says_what_the_rules_say(
    kind: str, data: st.DataObject, policy: Policy, replicated: list[Obj]
) -> None:
    """Stored object, warnings and denial; what is stored as stepped is shown as stepped."""
    item = data.draw(objects(kind))
    decision = decide(create(item), {**runtime_facts(replicated), **NO_DEFAULT}, policy)
    found = shown(judged(item, runtime(replicated), policy))
    assert found["object"] == decision.stored
    assert found["warnings"] == decision.warnings
    assert (found["denial"] or "") == decision.message
    if found["outcome"] in {"step", "whole"}:
        labels = decision.stored["metadata"]["labels"]
        assert (names.STEP_QUEUE in labels) == (found["outcome"] == "step")
        assert (names.QUEUE in labels) == (found["outcome"] == "whole")
    if found["outcome"] == "step":
        assert all(row["queue"] for row in found["steps"])


@pytest.mark.parametrize("kind", KINDS)
@quick
@given(data=st.data(), policy=policies(), replicated=steps())
def test_nothing_surprises_it(
    kind: str, data: st.DataObject, policy: Policy, replicated: list[Obj]
) -> None:
    """Parents and runtimes of any shape are refused, left alone or a finding, in every form."""
    item = data.draw(bent(data.draw(objects(kind))))
    odd = data.draw(bent(runtime(replicated)))
    head = {"apiVersion": KINDS[kind], "kind": kind}
    content = msgspec.json.decode(msgspec.json.encode(item))
    whole = {**content, **head} if isinstance(content, dict) else head
    judgement = judged(whole, odd if isinstance(odd, dict) else {}, policy)
    for form in ("table", "json", "yaml"):
        assert rendered(Report([judgement]), form)
