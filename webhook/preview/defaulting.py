"""Kueue's defaulting: what names no queue goes to LocalQueue `default`, where there is one.

Kueue does it where its integration for the kind is on and it manages the namespace
(ApplyDefaultLocalQueue..., pkg/controller/jobframework/defaults.go in v0.19.2). We are called again
after it, so such an object is reviewed as Kueue leaves it.
"""

from typing import Final

from webhook.preview.documents import Document
from webhook.preview.known import Known
from webhook.rules import kueue, names
from webhook.rules.facts import Answer, Key
from webhook.rules.policy import Policy

FRAMEWORKS: Final = {"TrainJob": names.TRAINJOB_FRAMEWORK, "JobSet": names.JOBSET_FRAMEWORK}

NOTE: Final = (
    "Kueue sends what names no queue to LocalQueue default of this namespace, and suspends it; "
    "this is what follows"
)


async def is_defaulted(kind: str, namespace: str, known: Known, policy: Policy) -> bool:
    """Whether Kueue gives an object of this kind a queue that it does not name."""
    queue = Key(
        names.KUEUE_GROUP, names.KUEUE_VERSION, "localqueues", names.DEFAULT_QUEUE, namespace
    )
    if not await known.shows(queue):
        return False
    facts: dict[Key, Answer] = {}
    while keys := [
        key for key in kueue.needs((), (), namespace, facts, policy) if key not in facts
    ]:
        facts |= {key: await known.read(key) for key in keys}
    settings = kueue.settings(namespace, facts, policy)
    return settings.manages_namespace and settings.admits(FRAMEWORKS[kind])


def defaulted(document: Document) -> Document:
    """The object as Kueue leaves it."""
    content = document.content
    metadata, spec = content.get("metadata") or {}, content.get("spec") or {}
    labels = {**(metadata.get("labels") or {}), names.QUEUE: names.DEFAULT_QUEUE}
    suspended = {**spec, "suspend": True} if isinstance(spec, dict) else spec
    changed = {**content, "metadata": {**metadata, "labels": labels}, "spec": suspended}
    return Document(changed, document.place)
