"""The JobSet that Trainer will make of a TrainJob, as far as its runtime tells.

Its steps are the runtime's; what Trainer adds itself is not here. It is reviewed like the real one,
so that the queue of each step is what the rules say and not what this module believes.
"""

from typing import Any, Final

from webhook.preview.documents import Document, Object
from webhook.rules import names
from webhook.rules.facts import Answer, Found, Key, Reader, trainer_key

UID: Final = "00000000-0000-4000-8000-000000000000"
GENERATED: Final = "xxxxx"


class Stored(Reader):
    """A Reader that knows one TrainJob as it would be stored; the rest is behind it."""

    def __init__(self, trainjob: Object, key: Key, behind: Reader) -> None:
        metadata = {**trainjob["metadata"], "uid": UID}
        self._key, self._found = key, Found({**trainjob, "metadata": metadata})
        self._behind = behind

    async def read(self, key: Key) -> Answer:
        """The answer for one key."""
        return self._found if key == self._key else await self._behind.read(key)


def owner_key(trainjob: Document, namespace: str) -> Key:
    """The key under which the JobSet's review looks for its TrainJob."""
    return trainer_key("trainjobs", _name(trainjob), namespace, UID)


def jobset_of(trainjob: Document, runtime: Any, namespace: str) -> Document:
    """The JobSet of a TrainJob on this runtime."""
    owner = {
        "apiVersion": trainjob.content["apiVersion"],
        "kind": trainjob.kind,
        "name": _name(trainjob),
        "uid": UID,
        "controller": True,
    }
    metadata = {"name": _name(trainjob), "namespace": namespace, "ownerReferences": [owner]}
    content = {
        "apiVersion": f"{names.JOBSET_GROUP}/{names.JOBSET_VERSION}",
        "kind": "JobSet",
        "metadata": metadata,
        "spec": runtime.get("spec", {}).get("template", {}).get("spec") or {},
    }
    return Document(content, trainjob.place)


def _name(trainjob: Document) -> str:
    name = trainjob.name
    return f"{name}{GENERATED}" if name.endswith("-") else name
