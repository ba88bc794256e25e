"""Step or whole."""

from dataclasses import replace

import pytest

from tests.rules.factories import (
    ANCESTOR,
    MODE,
    PODSET_GROUP,
    RUNTIME_KEY,
    Obj,
    Q,
    S,
    cases,
    changed,
    labelled,
    owner_facts,
    runtime,
    runtime_facts,
    step,
    torchtune_steps,
    trainer_jobset,
    trainjob,
    user_jobset,
)
from tests.rules.reviews import Decision, create, decide
from webhook.rules.facts import Absent, Facts, Found, Unreadable
from webhook.rules.policy import Kueue, Mode, Policy

DATASET = {ANCESTOR: "dataset-initializer"}
MODEL = {ANCESTOR: "model-initializer"}
TRAINER_STEP = {ANCESTOR: "trainer"}
GANG = [step("launcher", "workers", status="Ready"), step("workers")]
FREE = Policy()


def _grouped(one: Obj) -> Obj:
    pods = {"metadata": {"annotations": {PODSET_GROUP: "g"}}}
    return changed(one, {"template": {"spec": {"template": pods}}})


def _replicas(one: Obj, count: int) -> Obj:
    return changed(one, {"replicas": count})


def _is_stepped(decision: Decision) -> bool:
    assert decision.allowed
    labels = decision.stored["metadata"]["labels"]
    assert (S in labels) != (Q in labels)
    return S in labels


STEPPED: dict[str, list[Obj]] = {
    "a chain of two": [step("a"), step("b", "a")],
    "a chain of three": [step("a"), step("b", "a"), step("c", "b")],
    "a chain that names every predecessor": [step("a"), step("b", "a"), step("c", "a", "b")],
    "Trainer's initializers side by side, then the training (C05)": torchtune_steps(),
    "one initializer, then the training": [
        step("dataset-initializer", labels=DATASET),
        step("node", "dataset-initializer", labels=TRAINER_STEP),
    ],
    "initializers, training, then an evaluation": [*torchtune_steps(), step("eval", "node")],
    "null where a list or a number may be": [
        {**step("a"), "dependsOn": None, "replicas": None},
        step("b", "a"),
    ],
}
WHOLE_WITH_WARNING: dict[str, tuple[list[Obj], Obj]] = {
    "a step that waits for Ready (MPI, DeepSpeed)": (GANG, {}),
    "a Ready edge beside Complete edges": (
        [step("a"), step("b", "a"), step("c", "b", status="Ready")],
        {},
    ),
    "startupPolicy InOrder": (
        [step("a"), step("b", "a")],
        {"startupPolicy": {"startupPolicyOrder": "InOrder"}},
    ),
    "several replicas of the last step": ([step("a"), _replicas(step("b", "a"), 2)], {}),
    "several replicas of the first step": ([_replicas(step("a"), 2), step("b", "a")], {}),
    "several replicas of the only step": ([_replicas(step("a"), 2)], {}),
    "steps without any edge": ([step("a"), step("b")], {}),
    "two steps beside each other after a common one": (
        [step("a"), step("b", "a"), step("c", "a")],
        {},
    ),
    "two steps beside each other before a common one": (
        [step("a"), step("b"), step("c", "a", "b")],
        {},
    ),
    "a step beside a chain": ([step("a"), step("b", "a"), step("c")], {}),
    "a podset group over two steps (C31)": ([_grouped(step("a")), _grouped(step("b", "a"))], {}),
    "leader and workers in a podset group (C31)": (
        [step("prepare"), _grouped(step("leader", "prepare")), _grouped(step("w", "prepare"))],
        {},
    ),
}


@cases(STEPPED)
def test_what_pays_and_is_safe_is_stepped(case: list[Obj]) -> None:
    """Complete edges and never two Jobs at a time, initializers excepted: stepped, silently."""
    for decision in (
        decide(create(user_jobset(steps=case))),
        decide(create(trainjob()), runtime_facts(case)),
    ):
        assert _is_stepped(decision)
        assert not decision.warnings


@cases(WHOLE_WITH_WARNING)
def test_gangs_are_left_whole_with_a_warning(case: tuple[list[Obj], Obj]) -> None:
    """Steps that need each other at the same time are admitted together, and the user hears it."""
    steps, spec = case
    for decision in (
        decide(create(user_jobset(steps=steps, **spec))),
        decide(create(trainjob()), runtime_facts(steps, **spec)),
    ):
        assert decision.patch is None
        assert len(decision.warnings) == 1
        assert len(decision.warnings[0]) <= 120


def test_replicas_count_whatever_the_labels_say() -> None:
    """A label of Trainer's on a user's own JobSet does not hide several replicas."""
    steps = [step("a"), _replicas(step("b", "a", labels=TRAINER_STEP), 4)]
    assert not _is_stepped(decide(create(user_jobset(steps=steps))))


@pytest.mark.parametrize("steps", [[step("a")], []])
def test_a_single_step_is_left_whole_silently(steps: list[Obj]) -> None:
    """Where there is nothing to gain nothing is said."""
    for decision in (
        decide(create(user_jobset(steps=steps))),
        decide(create(trainjob()), runtime_facts(steps)),
    ):
        assert decision.patch is None
        assert not decision.warnings


def test_a_deprecated_runtime_is_stepped_like_any_other() -> None:
    """Trainer itself warns of it at the same create (label trainer.kubeflow.org/support)."""
    old = runtime() | {
        "metadata": {"name": "torchtune", "labels": {"trainer.kubeflow.org/support": "deprecated"}}
    }
    decision = decide(create(trainjob()), {RUNTIME_KEY: Found(old)})
    assert _is_stepped(decision)
    assert not decision.warnings


UNREAD: dict[str, Facts] = {
    "it is not there": {RUNTIME_KEY: Absent()},
    "it could not be read (C23)": {RUNTIME_KEY: Unreadable("timeout after 1 s")},
    "nobody looked": {},
    "it has another shape": {RUNTIME_KEY: Found({"spec": {"template": "x"}})},
}


@cases(UNREAD)
def test_a_trainjob_of_an_unknown_runtime_is_left_whole_with_a_warning(case: Facts) -> None:
    """A failed read means the safe answer, never an error (C23)."""
    decision = decide(create(trainjob()), case)
    assert not _is_stepped(decision)
    assert len(decision.warnings) == 1
    assert "timeout" not in decision.warnings[0]


def test_mode_step_steps_what_would_be_whole() -> None:
    """Annotation mode: step has the user's word for it, known runtime or not."""
    annotation = {MODE: "step"}
    assert _is_stepped(decide(create(user_jobset(None, annotation, steps=GANG))))
    assert _is_stepped(decide(create(trainjob(None, annotation)), runtime_facts(GANG)))
    assert _is_stepped(decide(create(trainjob(None, annotation)), {RUNTIME_KEY: Absent()}))


def test_mode_whole_leaves_whole_what_would_be_stepped() -> None:
    """Annotation mode: whole needs no warning, since the user asked for it."""
    for decision in (
        decide(create(user_jobset(None, {MODE: "whole"}))),
        decide(create(trainjob(None, {MODE: "whole"})), runtime_facts()),
    ):
        assert decision.patch is None
        assert not decision.warnings


def test_mode_auto_is_the_default() -> None:
    """Annotation mode: auto says what is so anyway."""
    assert _is_stepped(decide(create(user_jobset(None, {MODE: "auto"}))))
    assert not _is_stepped(decide(create(user_jobset(None, {MODE: "auto"}, steps=GANG))))


@pytest.mark.parametrize("mode", ["", "Step", "steps", "step ", "true"])
def test_an_unknown_mode_is_denied(mode: str) -> None:
    """A mode that there is not is refused with its path and the modes that there are."""
    for body in (create(trainjob(None, {MODE: mode})), create(user_jobset(None, {MODE: mode}))):
        decision = decide(body, runtime_facts())
        assert not decision.allowed
        assert decision.code == 422
        assert f"metadata.annotations[{MODE}]" in decision.message
        assert "auto, step, whole" in decision.message


DEFAULT_MODES: dict[str, tuple[Policy, str | None, list[Obj], bool]] = {
    "whole by default": (replace(FREE, default_mode=Mode.WHOLE), None, torchtune_steps(), False),
    "step by default": (replace(FREE, default_mode=Mode.STEP), None, GANG, True),
    "the user's word beats the default": (
        replace(FREE, default_mode=Mode.WHOLE),
        "step",
        torchtune_steps(),
        True,
    ),
    "auto by the user beats step by default": (
        replace(FREE, default_mode=Mode.STEP),
        "auto",
        GANG,
        False,
    ),
    "a forbidden override does not step": (
        replace(FREE, default_mode=Mode.WHOLE, allow_mode_override=False),
        "step",
        torchtune_steps(),
        False,
    ),
    "a forbidden override does not leave whole": (
        replace(FREE, default_mode=Mode.STEP, allow_mode_override=False),
        "whole",
        torchtune_steps(),
        True,
    ),
}


@cases(DEFAULT_MODES)
def test_the_administrator_sets_the_default_and_may_forbid_the_override(
    case: tuple[Policy, str | None, list[Obj], bool],
) -> None:
    """The configuration's default counts where no annotation is, or none may be."""
    policy, mode, steps, stepped = case
    annotations = {MODE: mode} if mode else None
    made = create(user_jobset(None, annotations, steps=steps))
    assert _is_stepped(decide(made, policy=policy)) == stepped
    made = create(trainjob(None, annotations))
    assert _is_stepped(decide(made, runtime_facts(steps), policy)) == stepped


def test_our_label_alone_does_not_beat_an_administrator_who_forbids_the_override() -> None:
    """A label that the user wrote is no decision of ours."""
    policy = replace(FREE, default_mode=Mode.WHOLE, allow_mode_override=False)
    decision = decide(create(user_jobset({S: "gpu-q"})), policy=policy)
    assert decision.stored == user_jobset({Q: "gpu-q"})


def test_a_new_default_does_not_undo_what_is_on_record() -> None:
    """A TrainJob that was stepped before the default became whole still gets its JobSet."""
    whole = replace(FREE, default_mode=Mode.WHOLE)
    assert decide(create(trainer_jobset()), owner_facts(), whole).allowed
    assert _is_stepped(decide(create(user_jobset({S: "gpu-q"})), policy=whole))
    assert not _is_stepped(decide(create(user_jobset({S: "gpu-q"}, {MODE: "whole"})), policy=whole))


ALONE = Kueue(frameworks=frozenset({"batch/job"}))


@pytest.mark.parametrize("mode", [None, "auto", "whole"])
@pytest.mark.parametrize("steps", [GANG, [step("a")]], ids=["gang", "single step"])
def test_without_kueues_integration_stepping_is_the_only_queueing(
    steps: list[Obj], mode: str | None
) -> None:
    """Whole is impossible where Kueue's integration is off: stepped with a warning."""
    policy, annotations = Policy(kueue=ALONE), {MODE: mode} if mode else None
    for decision in (
        decide(create(user_jobset(None, annotations, steps=steps)), policy=policy),
        decide(create(trainjob(None, annotations)), runtime_facts(steps), policy),
        decide(create(trainjob(None, annotations)), {RUNTIME_KEY: Absent()}, policy),
    ):
        assert _is_stepped(decision)
        assert "integration is off: admitted step by step" in decision.warnings[0]
        assert all(len(warning) <= 120 for warning in decision.warnings)


@pytest.mark.parametrize("mode", [None, "auto", "whole"])
def test_a_gang_that_can_only_be_stepped_is_told_of_the_deadlock(mode: str | None) -> None:
    """Where nobody would admit it whole, its user hears what admission apart can do to it."""
    policy, annotations = Policy(kueue=ALONE), {MODE: mode} if mode else None
    for decision in (
        decide(create(user_jobset(None, annotations, steps=GANG)), policy=policy),
        decide(create(trainjob(None, annotations)), runtime_facts(GANG), policy),
    ):
        assert any("wait for each other for ever" in warning for warning in decision.warnings)


def test_a_gang_that_is_stepped_on_request_is_told_of_the_deadlock() -> None:
    """Who asks for steps gets them, and hears what that can do to a gang; a chain hears nothing."""
    for decision in (
        decide(create(user_jobset(None, {MODE: "step"}, steps=GANG))),
        decide(create(trainjob(None, {MODE: "step"})), runtime_facts(GANG)),
    ):
        assert _is_stepped(decision)
        assert any("wait for each other for ever" in warning for warning in decision.warnings)
    chain = [step("a"), step("b", "a")]
    assert decide(create(user_jobset(None, {MODE: "step"}, steps=chain))).warnings == []


def test_each_kind_asks_for_its_own_integration() -> None:
    """Only the integration that would admit this very kind makes whole possible."""
    for_jobsets = Policy(kueue=Kueue(frameworks=frozenset({"batch/job", "jobset.x-k8s.io/jobset"})))
    assert not _is_stepped(decide(create(user_jobset(steps=GANG)), policy=for_jobsets))
    assert _is_stepped(decide(create(trainjob()), runtime_facts(GANG), for_jobsets))


IMPOSSIBLE: dict[str, Kueue] = {
    "the Job integration is off (C16)": Kueue(
        frameworks=frozenset({"jobset.x-k8s.io/jobset", "trainer.kubeflow.org/trainjob"})
    ),
    "no integration is on": Kueue(frameworks=frozenset()),
    "jobs without queue-name are managed, parents too (C16)": Kueue(
        manages_without_queue_name=True
    ),
}


@cases(IMPOSSIBLE)
@pytest.mark.parametrize("mode", [None, "step"])
def test_where_stepping_cannot_work_parents_stay_whole(mode: str | None, case: Kueue) -> None:
    """No wish and no default steps a parent whose Jobs nobody would admit (C16)."""
    policy, annotations = Policy(kueue=case), {MODE: mode} if mode else None
    assert decide(create(user_jobset(None, annotations)), policy=policy).patch is None
    assert decide(create(trainjob(None, annotations)), runtime_facts(), policy).patch is None


def test_managing_without_queue_name_is_no_obstacle_without_parent_integrations() -> None:
    """With the Job integration alone, stepping works in either setting."""
    policy = Policy(kueue=replace(ALONE, manages_without_queue_name=True))
    assert _is_stepped(decide(create(user_jobset()), policy=policy))


def test_a_restored_gang_keeps_its_record() -> None:
    """Called again within one create, or restored: what was stepped is stepped (C32)."""
    jobset = user_jobset({S: "gpu-q"}, {MODE: "step"}, steps=GANG)
    assert _is_stepped(decide(create(jobset)))
    assert decide(create(labelled(trainjob(), {Q: None, S: "q"}))).patch is None
