"""What Kueue's own objects change about the decision between step and whole."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from tests.rules.factories import (
    RUNTIME_KEY,
    Obj,
    Q,
    S,
    cases,
    changed,
    owner,
    owner_facts,
    runtime,
    stored_jobset,
    stored_trainjob,
    trainer_jobset,
    trainjob,
    user_jobset,
)
from tests.rules.reviews import Decision, create, decide, update
from webhook.rules.facts import Absent, Answer, Found, Key, Unreadable
from webhook.rules.policy import Kueue, Mode, Policy
from webhook.rules.selectors import Selector

CONFIG_MAP = Key("", "v1", "configmaps", "kueue-manager-config", "kueue-system")
NAMESPACE = Key("", "v1", "namespaces", "team-a")
FRAMEWORKS = ["batch/job", "jobset.x-k8s.io/jobset", "trainer.kubeflow.org/trainjob"]
GANG = {"replicas": 3}


def kueue_key(plural: str, name: str, namespace: str = "") -> Key:
    """An object of Kueue's."""
    return Key("kueue.x-k8s.io", "v1beta2", plural, name, namespace)


LOCAL_QUEUE = kueue_key("localqueues", "gpu-q", "team-a")
CLUSTER_QUEUE = kueue_key("clusterqueues", "cluster-q")
CHECK = kueue_key("admissionchecks", "check")


def configured(version: str = "v1beta2", **content: Any) -> dict[Key, Answer]:
    """Kueue's ConfigMap with this configuration."""
    whole = {"apiVersion": f"config.kueue.x-k8s.io/{version}", "kind": "Configuration", **content}
    data = {"controller_manager_config.yaml": yaml.safe_dump(whole)}
    return {CONFIG_MAP: Found({"data": data})}


def leading_to(controller: str) -> dict[Key, Answer]:
    """A queue whose ClusterQueue has one AdmissionCheck of this controller."""
    checks = {"admissionChecksStrategy": {"admissionChecks": [{"name": "check"}]}}
    return {
        LOCAL_QUEUE: Found({"spec": {"clusterQueue": "cluster-q"}}),
        CLUSTER_QUEUE: Found({"spec": checks}),
        CHECK: Found({"spec": {"controllerName": controller}}),
    }


def stepping(facts: dict[Key, Answer], policy: Policy | None = None) -> Decision:
    """The decision for a TrainJob that would be stepped."""
    return decide(create(trainjob()), {RUNTIME_KEY: Found(runtime()), **facts}, policy)


def ganging(facts: dict[Key, Answer], policy: Policy | None = None) -> Decision:
    """The decision for a JobSet that would be left whole."""
    gang = user_jobset()
    gang["spec"]["replicatedJobs"][-1] |= GANG
    return decide(create(gang), facts, policy)


def is_stepped(decision: Decision) -> bool:
    """Whether the stored parent carries our label and not Kueue's."""
    labels = decision.stored["metadata"]["labels"]
    assert (S in labels) != (Q in labels)
    return S in labels


STEPPABLE: dict[str, dict[Key, Answer]] = {
    "all three integrations are on": configured(integrations={"frameworks": FRAMEWORKS}),
    "an old version of the configuration": configured(
        "v1beta1", integrations={"frameworks": FRAMEWORKS}
    ),
    "batch/job alone": configured(integrations={"frameworks": ["batch/job"]}),
    "no integrations listed, so batch/job alone": configured(),
    "unlabelled jobs are managed, but no parents are": configured(
        manageJobsWithoutQueueName=True, integrations={"frameworks": ["batch/job"]}
    ),
    "the namespace is selected": configured(
        integrations={"frameworks": FRAMEWORKS},
        managedJobsNamespaceSelector={
            "matchExpressions": [
                {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["other"]}
            ]
        },
    ),
    "the configuration can't be read": {CONFIG_MAP: Unreadable("forbidden")},
    "there is no ConfigMap": {CONFIG_MAP: Absent()},
    "the ConfigMap holds something else": {CONFIG_MAP: Found({"data": {"other": "x"}})},
    "the configuration is no YAML": {
        CONFIG_MAP: Found({"data": {"controller_manager_config.yaml": "a: ["}})
    },
    "an external framework has nothing to do with parents": configured(
        manageJobsWithoutQueueName=True,
        integrations={
            "frameworks": ["batch/job"],
            "externalFrameworks": ["Foo.v1.example.com", "JobSet", ""],
        },
    ),
    "a queue with a check of another kind": leading_to("kueue.x-k8s.io/provisioning-request"),
    "a queue that does not exist": {LOCAL_QUEUE: Absent()},
}


@cases(STEPPABLE)
def test_a_trainjob_is_stepped_where(case: dict[Key, Answer]) -> None:
    """Kueue can admit the steps, as far as anybody knows."""
    assert is_stepped(stepping(case))


IMPOSSIBLE: dict[str, dict[Key, Answer]] = {
    "batch/job is off": configured(integrations={"frameworks": FRAMEWORKS[1:]}),
    "unlabelled parents are managed": configured(
        manageJobsWithoutQueueName=True, integrations={"frameworks": FRAMEWORKS}
    ),
    "unlabelled TrainJobs are managed by a controller of somebody else's": configured(
        manageJobsWithoutQueueName=True,
        integrations={
            "frameworks": ["batch/job"],
            "externalFrameworks": ["TrainJob.v1alpha1.trainer.kubeflow.org"],
        },
    ),
    "unlabelled JobSets are, of whatever version": configured(
        manageJobsWithoutQueueName=True,
        integrations={
            "frameworks": ["batch/job"],
            "externalFrameworks": ["JobSet.v1.jobset.x-k8s.io"],
        },
    ),
    "the namespace's name is not selected": configured(
        integrations={"frameworks": FRAMEWORKS},
        managedJobsNamespaceSelector={"matchLabels": {"kubernetes.io/metadata.name": "other"}},
    ),
    "the namespace's labels are not selected": configured(
        integrations={"frameworks": FRAMEWORKS},
        managedJobsNamespaceSelector={
            "matchExpressions": [{"key": "managed", "operator": "Exists"}]
        },
    )
    | {NAMESPACE: Found({"metadata": {"labels": {"team": "a"}}})},
}


@cases(IMPOSSIBLE)
def test_c16_nothing_is_stepped_where(case: dict[Key, Answer]) -> None:
    """C16: Kueue would ignore the steps; the parent stays as submitted, with a warning."""
    decision = stepping(case)
    assert not is_stepped(decision)
    assert any("no way to admit steps" in warning for warning in decision.warnings)


def test_a_label_of_the_namespace_selects_it() -> None:
    """The namespace's own labels are read where the selector asks for more than its name."""
    facts = configured(
        integrations={"frameworks": FRAMEWORKS},
        managedJobsNamespaceSelector={"matchLabels": {"managed": "yes"}},
    ) | {NAMESPACE: Found({"metadata": {"labels": {"managed": "yes"}}})}
    assert is_stepped(stepping(facts))


def test_a_queue_that_leads_to_multikueue_is_left_whole() -> None:
    """MultiKueue sends whole parents to other clusters; steps would be torn apart."""
    decision = stepping(leading_to("kueue.x-k8s.io/multikueue"))
    assert not is_stepped(decision)
    assert any("other clusters" in warning for warning in decision.warnings)


@pytest.mark.parametrize("key", [LOCAL_QUEUE, CLUSTER_QUEUE, CHECK], ids=lambda key: key.plural)
def test_a_queue_that_cannot_be_read_means_whole(key: Key) -> None:
    """Where a look-up of the queue fails, the parent is left whole, and the user is told."""
    facts = leading_to("kueue.x-k8s.io/provisioning-request") | {key: Unreadable("timeout")}
    decision = stepping(facts)
    assert not is_stepped(decision)
    assert any("its queue could not be read" in warning for warning in decision.warnings)


def test_a_gang_is_stepped_where_its_integration_is_off() -> None:
    """With batch/job alone, left whole would mean not queued at all: stepped, with a warning."""
    assert not is_stepped(ganging(configured(integrations={"frameworks": FRAMEWORKS})))
    decision = ganging(configured(integrations={"frameworks": ["batch/job"]}))
    assert is_stepped(decision)
    assert any("jobset.x-k8s.io/jobset integration is off" in w for w in decision.warnings)


def test_a_gang_of_an_external_framework_is_left_whole() -> None:
    """Somebody else's controller admits it whole, so whole is possible."""
    external = {
        "frameworks": ["batch/job"],
        "externalFrameworks": ["JobSet.v1alpha2.jobset.x-k8s.io"],
    }
    assert not is_stepped(ganging(configured(integrations=external)))


SELECTED: dict[str, tuple[Selector | None, bool]] = {
    "no selector": (None, True),
    "its name": (Selector({"kubernetes.io/metadata.name": "team-a"}), True),
    "another name": (Selector({"kubernetes.io/metadata.name": "other"}), False),
    "its labels": (Selector({"team": "a"}), True),
    "other labels": (Selector({"team": "b"}), False),
}


@cases(SELECTED)
def test_the_administrator_may_say_which_namespaces_kueue_manages(
    case: tuple[Selector | None, bool],
) -> None:
    """In our own configuration as in Kueue's, and then Kueue's is not asked."""
    selector, stepped = case
    policy = Policy(kueue=Kueue(), managed_namespaces=selector)
    facts: dict[Key, Answer] = {NAMESPACE: Found({"metadata": {"labels": {"team": "a"}}})}
    assert is_stepped(stepping(facts, policy)) == stepped


@pytest.mark.parametrize("decided", [stepping, ganging])
def test_a_user_hears_that_kueues_configuration_was_assumed(
    decided: Callable[..., Decision],
) -> None:
    """Unreadable facts: the safe answer and a warning, never a 500 (C23)."""
    assumed = "Kueue's configuration could not be read"
    garbage = Found({"data": {"controller_manager_config.yaml": "a: ["}})
    for answer in (Unreadable("the API server did not answer"), Absent(), garbage):
        facts = {CONFIG_MAP: answer}
        assert any(assumed in warning for warning in decided(facts).warnings)
        said = decided(facts, Policy(kueue=Kueue()))
        assert not any(assumed in warning for warning in said.warnings)
    known = decided(configured(integrations={"frameworks": FRAMEWORKS}))
    assert not any(assumed in warning for warning in known.warnings)


def test_a_priority_class_that_cannot_be_looked_up_is_told() -> None:
    """It may exist or not: the steps are queued all the same."""
    facts: dict[Key, Answer] = {
        RUNTIME_KEY: Found(runtime()),
        kueue_key("workloadpriorityclasses", "low"): Unreadable("timeout"),
    }
    job = trainjob({Q: "gpu-q", "kueue.x-k8s.io/priority-class": "low"})
    decision = decide(create(job), facts)
    assert is_stepped(decision)
    assert decision.warnings == ["WorkloadPriorityClass low could not be looked up"]


def test_what_the_administrator_says_wins_over_the_configmap() -> None:
    """Set in our own configuration, Kueue's ConfigMap is not even asked."""
    policy = Policy(kueue=Kueue(frameworks=frozenset(FRAMEWORKS)))
    facts = configured(integrations={"frameworks": FRAMEWORKS[1:]})
    assert is_stepped(stepping(facts, policy))


def test_names_that_lead_nowhere_are_warned_about() -> None:
    """A LocalQueue or priority class that does not exist makes steps wait without a word."""
    facts: dict[Key, Answer] = {
        RUNTIME_KEY: Found(runtime()),
        LOCAL_QUEUE: Absent(),
        kueue_key("workloadpriorityclasses", "low"): Absent(),
    }
    job = trainjob({Q: "gpu-q", "kueue.x-k8s.io/priority-class": "low"})
    warnings = decide(create(job), facts).warnings
    assert any("LocalQueue gpu-q does not exist" in warning for warning in warnings)
    assert any("WorkloadPriorityClass low does not exist" in warning for warning in warnings)
    assert all(len(warning) <= 120 for warning in warnings)


def test_a_second_call_of_one_create_keeps_the_record() -> None:
    """C32: called again, a parent stays stepped even where a look-up fails meanwhile."""
    again = stored_trainjob()
    decision = decide(create(again), {LOCAL_QUEUE: Unreadable("timeout")})
    assert decision.patch is None


def defaulted(parent: Obj) -> Obj:
    """What Kueue's webhook makes of a parent where a LocalQueue named default exists."""
    after = copy.deepcopy(parent)
    labels = after["metadata"].setdefault("labels", {})
    labels.setdefault(Q, "default")
    after["spec"]["suspend"] = True
    return after


PARENTS: dict[str, Obj] = {
    "a labelled TrainJob": trainjob(),
    "an unlabelled TrainJob": trainjob({}),
    "a labelled JobSet": user_jobset({Q: "gpu-q"}),
    "an unlabelled JobSet": user_jobset({}),
}


@cases(PARENTS)
@pytest.mark.parametrize("first", ["us", "Kueue"])
def test_c32_with_kueues_defaulting_in_between_a_third_call_has_no_patch(
    first: str, case: Obj
) -> None:
    """C32: before or after Kueue, the end is stepped, un-suspended, without Kueue's label."""
    facts: dict[Key, Answer] = {RUNTIME_KEY: Found(runtime())}
    submitted = decide(create(case), facts).stored if first == "us" else case
    second = decide(create(defaulted(submitted)), facts)
    labels = second.stored["metadata"]["labels"]
    assert labels[S] == (case["metadata"].get("labels") or {}).get(Q, "default")
    assert Q not in labels
    assert second.stored["spec"]["suspend"] is False
    assert decide(create(second.stored), facts).patch is None


def test_a_jobset_of_a_trainjob_that_is_not_to_be_stepped_is_denied() -> None:
    """Our label alone, put on a TrainJob by hand, makes nobody step what can't be stepped."""
    facts = {**owner_facts(), **configured(integrations={"frameworks": FRAMEWORKS[1:]})}
    decision = decide(create(trainer_jobset()), facts)
    assert decision.code == 403
    assert "is not to be stepped (WholeSteppingImpossible)" in decision.message


def test_our_label_on_a_trainjob_does_not_beat_the_administrator_at_its_jobset() -> None:
    """Where the override is forbidden, a JobSet whose TrainJob carries our label is judged."""
    policy = Policy(default_mode=Mode.WHOLE, allow_mode_override=False)
    assert decide(create(trainer_jobset()), owner_facts(), policy).code == 403


def test_a_warning_names_the_annotation_only_where_it_counts() -> None:
    """With the override forbidden, nobody is sent to an annotation that is ignored."""
    (warning,) = ganging({}, Policy(allow_mode_override=False)).warnings
    assert "kueue-steps.io/mode" not in warning


def test_a_trainjob_of_another_owner_belongs_to_it() -> None:
    """C13: Kueue would take the AppWrapper for the manager of the Jobs, so nothing is moved."""
    owned = trainjob()
    owned["metadata"]["ownerReferences"] = [
        owner("AppWrapper", "a", "u", "workload.codeflare.dev/v1")
    ]
    assert decide(create(owned), {RUNTIME_KEY: Found(runtime())}).patch is None


def test_a_runtimes_own_queue_on_its_jobset_is_taken_off_at_each_apply() -> None:
    """Trainer copies the runtime's labels to the JobSet; that must not block a pause."""
    stored = stored_jobset(trainer_jobset())
    applied = changed(stored, {"metadata": {"labels": {Q: "runtime-q"}}, "spec": {"suspend": True}})
    decision = decide(update(applied, stored))
    assert decision.allowed
    assert decision.stored == changed(stored, {"spec": {"suspend": True}})


SELECTORS: dict[str, Obj] = {
    "labels that match": {"matchLabels": {"team": "a"}},
    "a label that must not be there": {
        "matchExpressions": [{"key": "unmanaged", "operator": "DoesNotExist"}]
    },
}


@cases(SELECTORS)
def test_a_namespace_that_can_not_be_read_means_whole(case: Obj) -> None:
    """Whether Kueue looks at it is not known: the safe answer, and no word of Kueue's settings."""
    facts = configured(
        integrations={"frameworks": FRAMEWORKS}, managedJobsNamespaceSelector=case
    ) | {Key("", "v1", "namespaces", "team-a"): Unreadable("timeout")}
    decision = stepping(facts)
    assert not is_stepped(decision)
    assert decision.warnings == ["admitted whole, since its queue could not be read"]


def test_a_setting_that_is_null_leaves_the_others_as_they_are() -> None:
    """YAML's null is the default, as for Kueue itself."""
    facts = configured(integrations={"frameworks": ["batch/job"]}, manageJobsWithoutQueueName=None)
    assert is_stepped(ganging(facts))
    assert is_stepped(stepping(facts))
