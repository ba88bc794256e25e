"""What a rule has to know from the cluster, asked for before it decides.

A rule names the objects it needs (`Key`); the edge reads them through a `Reader` and hands the
answers over as `Facts`, which may hold what is at hand already. Rules never read anything
themselves.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, TypeVar, cast

import msgspec

from webhook.rules import names
from webhook.rules.objects import View

ViewT = TypeVar("ViewT", bound=View)


class Key(msgspec.Struct, frozen=True):
    """One object. `group` is empty for the core group, `namespace` for cluster-wide kinds.

    `uid` says which one of this name is meant, where somebody refers to one; the answer may be
    whatever has the name now, all the same. Hashed a hundred times per review, thus no dataclass.
    """

    group: str
    version: str
    plural: str
    name: str
    namespace: str = ""
    uid: str = ""


def trainer_key(plural: str, name: str, namespace: str = "", uid: str = "") -> Key:
    """An object of Trainer's."""
    return Key(names.TRAINER_GROUP, names.TRAINER_VERSION, plural, name, namespace, uid)


@dataclass(frozen=True, slots=True)
class Found:
    """The object exists; `content` is its JSON as plain dicts and lists."""

    content: Mapping[str, Any]
    _seen: dict[type[View], View | None] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def through(self, view: type[ViewT]) -> ViewT | None:
        """The object seen through `view`, None where it has another shape.

        A view is made once: it is frozen, and an answer from the cache is asked for often.
        """
        if view not in self._seen:
            self._seen[view] = _converted(self.content, view)
        return cast("ViewT | None", self._seen[view])


@dataclass(frozen=True, slots=True)
class Absent:
    """There is no such object."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Whether there is such an object could not be learnt; `why` is for the log, not for users."""

    why: str


Answer: TypeAlias = Found | Absent | Unreadable
Facts: TypeAlias = Mapping[Key, Answer]


def found(facts: Facts, key: Key | None, view: type[ViewT]) -> ViewT | None:
    """What was found under a key, seen through `view`; None where nothing readable was."""
    answer = facts.get(key) if key else None
    return answer.through(view) if isinstance(answer, Found) else None


def _converted(content: Mapping[str, Any], view: type[ViewT]) -> ViewT | None:
    try:
        return msgspec.convert(content, view)
    except msgspec.ValidationError:
        return None


class Reader(Protocol):
    """Reads one object, bounded in time; never raises."""

    def at_hand(self, _key: Key) -> Answer | None:
        """The answer, if there is one that nobody has to wait for."""
        return None

    async def read(self, key: Key) -> Answer:
        """The answer for one key."""
        ...
