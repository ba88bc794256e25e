"""Queues that lead nowhere or elsewhere, and priority classes that are named but not there."""

from collections.abc import Iterator, Mapping
from typing import Any

from webhook.doctor import questions
from webhook.doctor.case import Case
from webhook.doctor.findings import Note, info, warning
from webhook.rules import kueue, names
from webhook.rules.facts import Answer, Found, Key


def leading_nowhere(case: Case) -> Iterator[Note]:
    """LocalQueues whose ClusterQueue is not there or takes nothing."""
    every = {item["metadata"]["name"]: item for item in case.items(questions.CLUSTER_QUEUES)}
    for queue in _local_queues(case):
        target = queue["spec"].get("clusterQueue", "")
        if target not in every:
            yield warning(
                _subject(queue),
                f"It leads to ClusterQueue {target}, which does not exist: what is queued waits.",
                f"Create ClusterQueue {target}.",
            )
        elif (inactive := _inactive(every[target])) is not None:
            yield warning(
                _subject(queue),
                f"Its ClusterQueue {target} is not active: {inactive}.",
                f"See kubectl describe clusterqueue {target}.",
            )


def leading_to_other_clusters(case: Case) -> Iterator[Note]:
    """LocalQueues that hand Workloads to MultiKueue."""
    ways = _ways(case)
    for queue in _local_queues(case):
        where, name = queue["metadata"]["namespace"], queue["metadata"]["name"]
        if kueue.leads_to_multikueue([name], where, ways):
            yield info(_subject(queue), "It leads to other clusters, so parents stay whole in it.")


def defaults(case: Case) -> Iterator[Note]:
    """Namespaces in which unlabelled objects get a queue."""
    for queue in _local_queues(case):
        if queue["metadata"]["name"] == names.DEFAULT_QUEUE:
            yield info(
                f"Namespace {queue['metadata']['namespace']}",
                "It has a default LocalQueue: parents without a queue label are queued too.",
            )


def missing_priorities(case: Case) -> Iterator[Note]:
    """Priority classes that stepped parents name and that do not exist."""
    there = {item["metadata"]["name"] for item in case.items(questions.PRIORITY_CLASSES)}
    for kind, question in (
        ("TrainJob", questions.stepped(questions.TRAINER, case.namespace, "trainjobs")),
        ("JobSet", questions.stepped(questions.JOBSET, case.namespace, "jobsets")),
    ):
        for item in case.items(question):
            name = item["metadata"]["labels"].get(names.PRIORITY_CLASS)
            if name and name not in there:
                yield warning(
                    f"{kind} {item['metadata']['namespace']}/{item['metadata']['name']}",
                    f"It names WorkloadPriorityClass {name}, which does not exist: its Jobs wait.",
                    f"Create WorkloadPriorityClass {name}.",
                )


def _local_queues(case: Case) -> list[Any]:
    return case.items(questions.local_queues(case.namespace))


def _subject(queue: Mapping[str, Any]) -> str:
    return f"LocalQueue {queue['metadata']['namespace']}/{queue['metadata']['name']}"


def _inactive(cluster_queue: Mapping[str, Any]) -> str | None:
    """Why it is not active, None if it is."""
    conditions = (cluster_queue.get("status") or {}).get("conditions") or ()
    active = next((item for item in conditions if item["type"] == "Active"), None)
    if active is None:
        return "Kueue has said nothing of it yet"
    if active["status"] == "True":
        return None
    return str(active.get("message") or active.get("reason") or "no reason given").rstrip(".")


def _ways(case: Case) -> dict[Key, Answer]:
    """The queues, their ClusterQueues and AdmissionChecks, as the rules know them."""
    sources = {
        "localqueues": questions.local_queues(case.namespace),
        "clusterqueues": questions.CLUSTER_QUEUES,
        "admissionchecks": questions.ADMISSION_CHECKS,
    }
    return {
        _key(plural, item["metadata"]): Found(item)
        for plural, question in sources.items()
        for item in case.items(question)
    }


def _key(plural: str, metadata: Mapping[str, Any]) -> Key:
    where = metadata.get("namespace", "")
    return Key(names.KUEUE_GROUP, names.KUEUE_VERSION, plural, metadata["name"], where)
