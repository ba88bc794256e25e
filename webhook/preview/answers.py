"""What the server would answer to a create: the very bytes, asked of the very rules."""

from base64 import b64decode
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from webhook.http.admission import Admission
from webhook.preview.changes import patched
from webhook.preview.documents import Document, Object
from webhook.rules import names, review
from webhook.rules.reasons import Reason
from webhook.rules.review import Operation, Request

PARENTS: Final = {
    (names.TRAINER_GROUP, "TrainJob"): "trainjobs",
    (names.JOBSET_GROUP, "JobSet"): "jobsets",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer as its user gets it; `after` is the object as it would be stored."""

    reason: Reason
    after: Object
    warnings: tuple[str, ...] = ()
    denial: str | None = None


def is_parent(document: Document) -> bool:
    """Whether the object is of a kind that is previewed."""
    return (document.group, document.kind) in PARENTS


def request_of(document: Document, namespace: str) -> Request:
    """The review of the object's creation in this namespace."""
    resource = {
        "group": document.group,
        "version": document.version,
        "resource": PARENTS[document.group, document.kind],
    }
    request = {
        "uid": "preview",
        "resource": resource,
        "operation": Operation.CREATE.value,
        "namespace": namespace,
        "object": document.content,
        "dryRun": True,
    }
    content = {"apiVersion": review.API_VERSION, "kind": review.KIND, "request": request}
    return review.read(msgspec.json.encode(content))


async def asked(request: Request, content: Object, admission: Admission) -> Answer:
    """The answer to the review of this object."""
    verdict = await admission.mutate(request)
    answer: Any = msgspec.json.decode(review.write(request, verdict))["response"]
    operations = msgspec.json.decode(b64decode(answer.get("patch", "")) or b"[]")
    return Answer(
        reason=verdict.reason,
        after=patched(content, operations),
        warnings=tuple(answer.get("warnings", ())),
        denial=None if answer["allowed"] else answer["status"]["message"],
    )
