"""What the rules are told of the cluster: objects from the files first, then what is behind them.

Offline nothing is behind them. An object of Kueue's that can't be seen is taken as there and plain,
and which ones were is told. A runtime has no plain form: without it its steps are not known.
"""

import json
from collections.abc import Iterable
from typing import Any, Final

from msgspec.structs import replace

from webhook.preview.documents import Document, Object
from webhook.rules import names
from webhook.rules.facts import Absent, Answer, Found, Key, Reader, Unreadable
from webhook.rules.kueue import CONFIGURATION_KEY
from webhook.rules.labels import is_object_name
from webhook.rules.policy import Kueue
from webhook.rules.trainjob import RUNTIME_PLURALS

KINDS: Final = {
    (names.TRAINER_GROUP, "TrainJob"): ("trainjobs", True),
    (names.TRAINER_GROUP, "TrainingRuntime"): ("trainingruntimes", True),
    (names.TRAINER_GROUP, "ClusterTrainingRuntime"): ("clustertrainingruntimes", False),
    (names.KUEUE_GROUP, "LocalQueue"): ("localqueues", True),
    (names.KUEUE_GROUP, "ClusterQueue"): ("clusterqueues", False),
    (names.KUEUE_GROUP, "AdmissionCheck"): ("admissionchecks", False),
    (names.KUEUE_GROUP, "WorkloadPriorityClass"): ("workloadpriorityclasses", False),
    ("", "ConfigMap"): ("configmaps", True),
    ("", "Namespace"): ("namespaces", False),
}
"""Plural, and whether it lies in a namespace."""

WITHOUT_PLAIN_FORM: Final = frozenset({*RUNTIME_PLURALS.values(), "trainjobs"})

_KIND_OF: Final = {(group, plural): kind for (group, kind), (plural, _) in KINDS.items()}


def described(key: Key) -> str:
    """An object in words: kind, namespace and name."""
    kind = _KIND_OF.get((key.group, key.plural), key.plural)
    return f"{kind} {key.namespace}/{key.name}" if key.namespace else f"{kind} {key.name}"


class Offline(Reader):
    """A Reader that sees no cluster."""

    async def read(self, key: Key) -> Answer:
        """Nothing is known, but that no object can have a name that is none."""
        if not is_object_name(key.name):
            return Absent()
        return Unreadable("not in the files; give it with -f, or look with --cluster")


class Counted(Reader):
    """A Reader that knows whether it ever got an answer: `failure` is the last reason why not."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self.is_answered = False
        self.failure: str | None = None

    async def read(self, key: Key) -> Answer:
        """The answer for one key."""
        answer = await self._reader.read(key)
        if isinstance(answer, Unreadable):
            self.failure = answer.why
        else:
            self.is_answered = True
        return answer


class Known(Reader):
    """A Reader of the objects in the files, and of `behind` for all others.

    `answers` is what was told, `assumed` what was taken as plain since it could not be seen, and
    why, `used` which documents served.
    """

    def __init__(self, documents: Iterable[Document], namespace: str, behind: Reader) -> None:
        self._behind = behind
        self._documents = {
            _identity(document, namespace): document
            for document in documents
            if (document.group, document.kind) in KINDS
        }
        self.answers: dict[Key, Answer] = {}
        self.assumed: dict[Key, str] = {}
        self.used: list[Document] = []

    async def read(self, key: Key) -> Answer:
        """The answer for one key."""
        answer = await self._seen(key)
        if isinstance(answer, Unreadable) and key.plural not in WITHOUT_PLAIN_FORM:
            self.assumed[key] = answer.why
            answer = _plain(key)
        self.answers[key] = answer
        return answer

    async def shows(self, key: Key) -> bool:
        """Whether the object is to be seen, in the files or behind them; nothing is assumed."""
        return isinstance(await self._seen(key), Found)

    async def _seen(self, key: Key) -> Answer:
        document = self._documents.get(replace(key, version="", uid=""))
        if document is None:
            return await self._behind.read(key)
        self.used.append(document)
        return Found(_as_read(document))


def _plain(key: Key) -> Found:
    """The object without peculiarities; Kueue's configuration has all three integrations on."""
    if key.plural != "configmaps":
        return Found({})
    said = {"integrations": {"frameworks": sorted(Kueue().frameworks)}}
    return Found({"data": {CONFIGURATION_KEY: json.dumps(said)}})


def _identity(document: Document, default: str) -> Key:
    plural, in_namespace = KINDS[document.group, document.kind]
    namespace = document.namespace(default) if in_namespace else ""
    return Key(document.group, "", plural, document.name, namespace)


def _as_read(document: Document) -> Object:
    """The object as the API server hands it out in the version that the rules read."""
    spec: Any = document.content.get("spec")
    if document.kind != "ClusterQueue" or not isinstance(spec, dict):
        return document.content
    if not isinstance(listed := spec.get("admissionChecks"), list):
        return document.content
    # v1beta1's list of names is v1beta2's strategy for every flavor.
    checks = {"admissionChecks": [{"name": name} for name in listed]}
    return {**document.content, "spec": {**spec, "admissionChecksStrategy": checks}}
