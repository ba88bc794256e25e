"""The difference between an object as it came and as it is to be stored, as RFC 6902 operations.

Only what the views hold is compared, and values that an edit shares with the original are skipped
by identity, so the cost follows the edit and not the object. No rule writes an operation by hand.
"""

from collections.abc import Iterator
from typing import Any, TypeAlias

from msgspec import UNSET

from webhook.rules.objects import View

Operation: TypeAlias = dict[str, Any]


def operations(before: View | None, after: View | None) -> list[Operation]:
    """The operations that make `after` out of `before`; empty where nothing is edited."""
    return list(_difference("", before, after))


def _difference(path: str, before: Any, after: Any) -> Iterator[Operation]:
    if before is after or before == after:
        return
    match before, after:
        case View(), View():
            yield from _members(path, _fields(before), _fields(after))
        case dict(), dict():
            yield from _members(path, before, after)
        case list(), list() if len(before) == len(after):
            for index, (old, new) in enumerate(zip(before, after, strict=True)):
                yield from _difference(f"{path}/{index}", old, new)
        case _:
            yield {"op": "replace", "path": path, "value": after}


def _members(path: str, before: dict[str, Any], after: dict[str, Any]) -> Iterator[Operation]:
    for key in before | after:
        old, new, place = before.get(key, UNSET), after.get(key, UNSET), f"{path}/{_escaped(key)}"
        if new is UNSET and old is not UNSET:
            yield {"op": "remove", "path": place}
        elif old is UNSET and new is not UNSET:
            yield {"op": "add", "path": place, "value": new}
        else:
            yield from _difference(place, old, new)


def _fields(view: View) -> dict[str, Any]:
    return {
        wire: getattr(view, name)
        for name, wire in zip(view.__struct_fields__, view.__struct_encode_fields__, strict=True)
    }


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
