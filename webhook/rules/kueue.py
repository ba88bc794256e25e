"""What Kueue's own objects say about a queue: whether steps can be admitted, and where it leads.

Views of Kueue's configuration (v1beta1 and v1beta2 alike in what is read), LocalQueue,
ClusterQueue and AdmissionCheck; which of them a rule needs, and what follows from the answers.
"""

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Final

import msgspec
import yaml

from webhook.rules import names
from webhook.rules.facts import Absent, Facts, Key, Unreadable, found
from webhook.rules.objects import Head, View
from webhook.rules.policy import Kueue, Policy
from webhook.rules.selectors import Selector

CONFIGURATION_KEY: Final = "controller_manager_config.yaml"


class Integrations(View, frozen=True):
    """Kueue configuration, integrations."""

    frameworks: list[str] | None = None
    external_frameworks: list[str] | None = None


class Configuration(View, frozen=True, dict=True):
    """config.kueue.x-k8s.io Configuration, with the defaults of Kueue's own defaulting."""

    integrations: Integrations | None = None
    manage_jobs_without_queue_name: bool | None = None
    managed_jobs_namespace_selector: Selector | None = None

    @cached_property
    def frameworks(self) -> frozenset[str]:
        """The integrations that are on, Kueue's own and others'; with none listed it is batch/job.

        To Kueue a parent of an external framework (`TrainJob.v1alpha1.trainer.kubeflow.org`) is as
        good a manager of its Jobs as one of its own (getJobTypeForOwner in v0.19.2).
        """
        said = self.integrations or Integrations()
        external = {
            _EXTERNAL.get(_without_version(name), "") for name in said.external_frameworks or ()
        }
        return frozenset(said.frameworks or [names.JOB_FRAMEWORK]) | (external - {""})


_EXTERNAL: Final = {
    f"TrainJob.{names.TRAINER_GROUP}": names.TRAINJOB_FRAMEWORK,
    f"JobSet.{names.JOBSET_GROUP}": names.JOBSET_FRAMEWORK,
}


def _without_version(framework: str) -> str:
    kind, _, rest = framework.partition(".")
    return f"{kind}.{rest.partition('.')[2]}"


class _ConfigMap(View, frozen=True):
    data: dict[str, str] | None = None


class _LocalQueueSpec(View, frozen=True):
    cluster_queue: str = ""


class _LocalQueue(View, frozen=True):
    spec: _LocalQueueSpec = _LocalQueueSpec()


class _CheckRule(View, frozen=True):
    name: str = ""


class _Checks(View, frozen=True):
    admission_checks: list[_CheckRule] | None = None


class _ClusterQueueSpec(View, frozen=True):
    admission_checks_strategy: _Checks | None = None


class _ClusterQueue(View, frozen=True):
    spec: _ClusterQueueSpec = _ClusterQueueSpec()


class _CheckSpec(View, frozen=True):
    controller_name: str = ""


class _AdmissionCheck(View, frozen=True):
    spec: _CheckSpec = _CheckSpec()


UNKNOWN: Final = Configuration(Integrations(sorted(Kueue().frameworks)))
"""What is assumed where the configuration can't be read: all three integrations are on."""


def needs(
    queues: Iterable[str],
    priorities: Iterable[str],
    namespace: str,
    facts: Facts,
    policy: Policy,
) -> list[Key]:
    """The objects that have to be known next, given what is known already."""
    keys = _known_way(queues, namespace, facts)
    if policy.kueue is None:
        keys.append(configuration_key(policy))
    if by_label := _namespace(_selector(facts, policy), namespace):
        keys.append(by_label)
    return keys + [_priority_class(name) for name in priorities]


def settings(namespace: str, facts: Facts, policy: Policy) -> Kueue:
    """How Kueue is set up: as the administrator says, else as its ConfigMap, else its defaults."""
    if said := policy.kueue:
        manages = _manages(namespace, policy.managed_namespaces, facts, policy)
        return replace(said, manages_namespace=said.manages_namespace and manages)
    configuration = _configuration(facts, policy)
    selector = configuration.managed_jobs_namespace_selector
    return Kueue(
        frameworks=configuration.frameworks,
        manages_without_queue_name=bool(configuration.manage_jobs_without_queue_name),
        manages_namespace=_manages(namespace, selector, facts, policy),
    )


def leads_to_multikueue(queues: Iterable[str], namespace: str, facts: Facts) -> bool | None:
    """Whether one of these queues hands Workloads to other clusters; None if that is unknown."""
    keys = _known_way(queues, namespace, facts)
    checks = [check for key in keys if (check := found(facts, key, _AdmissionCheck))]
    if any(check.spec.controller_name == names.MULTIKUEUE for check in checks):
        return True
    unknown = any(isinstance(facts.get(key), Unreadable) for key in keys)
    return None if unknown else False


def may_be_unmanaged(namespace: str, facts: Facts, policy: Policy) -> bool:
    """Whether the namespace could not be read, and its labels tell if Kueue manages it."""
    return _is_unread(_namespace(_selector(facts, policy), namespace), facts)


def unread_warnings(facts: Facts, policy: Policy) -> tuple[str, ...]:
    """Says that Kueue's configuration was assumed, where it is not there or not to be read."""
    if policy.kueue is not None or _configuration(facts, policy) is not UNKNOWN:
        return ()
    return ("Kueue's configuration could not be read: decided as if all its integrations were on",)


def missing_warnings(
    queues: Iterable[str], priorities: Iterable[str], namespace: str, facts: Facts
) -> tuple[str, ...]:
    """What a parent names that is not there, or not to be seen: it would wait without a word."""
    warnings = [
        f"LocalQueue {queue} does not exist in this namespace: the steps wait until it does"
        for queue in dict.fromkeys(queues)
        if isinstance(facts.get(_local_queue(queue, namespace)), Absent)
    ]
    for name in priorities:
        match facts.get(_priority_class(name)):
            case Absent():
                missing = f"WorkloadPriorityClass {name} does not exist: Jobs wait until it does"
                warnings.append(missing)
            case Unreadable():
                warnings.append(f"WorkloadPriorityClass {name} could not be looked up")
    return tuple(warnings)


def _selector(facts: Facts, policy: Policy) -> Selector | None:
    """Which namespaces Kueue manages; None where it is all but the system's."""
    if policy.kueue is not None:
        return policy.managed_namespaces
    return _configuration(facts, policy).managed_jobs_namespace_selector


def _configuration(facts: Facts, policy: Policy) -> Configuration:
    config_map = found(facts, configuration_key(policy), _ConfigMap)
    text = config_map.data.get(CONFIGURATION_KEY) if config_map and config_map.data else None
    return UNKNOWN if text is None else _parsed(text)


@lru_cache(maxsize=8)
def _parsed(text: str) -> Configuration:
    """Parsing takes milliseconds, and the text seldom changes."""
    try:
        return msgspec.convert(yaml.safe_load(text) or {}, Configuration)
    except (yaml.YAMLError, ValueError, RecursionError):
        return UNKNOWN  # Not to be understood: as if it could not be read.


def _is_unread(key: Key | None, facts: Facts) -> bool:
    return key is not None and isinstance(facts.get(key), Unreadable)


def _manages(namespace: str, selector: Selector | None, facts: Facts, policy: Policy) -> bool:
    if selector is None:
        return namespace not in {"kube-system", policy.kueue_namespace}
    key = _namespace(selector, namespace)
    if _is_unread(key, facts):
        return True  # Whole then, as where the way of a queue could not be read.
    head = found(facts, key, Head)
    labels = (head and head.metadata.labels) or {}
    return selector.matches({**labels, names.NAMESPACE_NAME: namespace})


def _known_way(queues: Iterable[str], namespace: str, facts: Facts) -> list[Key]:
    """LocalQueues, their ClusterQueues and the checks of those, as far as the facts lead."""
    keys = [_local_queue(queue, namespace) for queue in queues]
    keys += [_cluster_queue(name) for name in _cluster_queues(keys, facts)]
    keys += [_check(name) for name in _checks(keys, facts)]
    return keys


def _namespace(selector: Selector | None, namespace: str) -> Key | None:
    """The namespace, where its labels count and not just its name."""
    by_label = selector and selector.keys - {names.NAMESPACE_NAME}
    return Key("", "v1", "namespaces", namespace) if by_label else None


def _cluster_queues(keys: Iterable[Key], facts: Facts) -> list[str]:
    queues = [queue for key in keys if (queue := found(facts, key, _LocalQueue))]
    return [queue.spec.cluster_queue for queue in queues if queue.spec.cluster_queue]


def _checks(keys: Iterable[Key], facts: Facts) -> list[str]:
    queues = [queue for key in keys if (queue := found(facts, key, _ClusterQueue))]
    strategies = [queue.spec.admission_checks_strategy for queue in queues]
    return [rule.name for checks in strategies if checks for rule in checks.admission_checks or ()]


def configuration_key(policy: Policy) -> Key:
    """The ConfigMap with Kueue's configuration."""
    return Key("", "v1", "configmaps", policy.kueue_config_map, policy.kueue_namespace)


def _local_queue(name: str, namespace: str) -> Key:
    return Key(names.KUEUE_GROUP, names.KUEUE_VERSION, "localqueues", name, namespace)


def _cluster_queue(name: str) -> Key:
    return Key(names.KUEUE_GROUP, names.KUEUE_VERSION, "clusterqueues", name)


def _check(name: str) -> Key:
    return Key(names.KUEUE_GROUP, names.KUEUE_VERSION, "admissionchecks", name)


def _priority_class(name: str) -> Key:
    return Key(names.KUEUE_GROUP, names.KUEUE_VERSION, "workloadpriorityclasses", name)
