"""The difference between an object as it came and as it is to be stored, as RFC 6902 operations.

Only what the views hold is compared, and values that an edit shares with the original are skipped
by identity, so the cost follows the edit and not the object. No rule writes an operation by hand.
"""

from collections.abc import Iterator
from functools import cache
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
            for name, place in _places(type(before)):
                yield from _member(path + place, getattr(before, name), getattr(after, name))
        case dict(), dict():
            for key in before | after:
                old, new = before.get(key, UNSET), after.get(key, UNSET)
                yield from _member(f"{path}/{_escaped(key)}", old, new)
        case list(), list() if len(before) == len(after):
            for index, (old, new) in enumerate(zip(before, after, strict=True)):
                yield from _difference(f"{path}/{index}", old, new)
        case _:
            yield {"op": "replace", "path": path, "value": after}


def _member(path: str, old: Any, new: Any) -> Iterator[Operation]:
    if old is new:
        return
    if new is UNSET:
        yield {"op": "remove", "path": path}
    elif old is UNSET:
        yield {"op": "add", "path": path, "value": new}
    else:
        yield from _difference(path, old, new)


@cache
def _places(view: type[View]) -> tuple[tuple[str, str], ...]:
    """The fields of a view, each with its place in the object as it is written."""
    wire = (f"/{_escaped(name)}" for name in view.__struct_encode_fields__)
    return tuple(zip(view.__struct_fields__, wire, strict=True))


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
