"""The difference between an object as it came and as it is to be stored, as RFC 6902 operations.

Only what the views hold is compared, and values that an edit shares with the original are skipped
by identity, so the cost follows the edit and not the object. No rule writes an operation by hand.
"""

from functools import cache
from typing import Any, TypeAlias

from msgspec import UNSET

from webhook.rules.objects import View

Operation: TypeAlias = dict[str, Any]


def operations(before: View | None, after: View | None) -> list[Operation]:
    """The operations that make `after` out of `before`; empty where nothing is edited."""
    found: list[Operation] = []
    _compare("", before, after, found)
    return found


def _compare(path: str, before: Any, after: Any, found: list[Operation]) -> None:
    """Adds the operations of one place to those that were found."""
    if before is after:
        return
    if isinstance(before, View) and isinstance(after, View):
        _compare_views(path, before, after, found)
    elif _are_alike(before, after):
        for index, (old, new) in enumerate(zip(before, after, strict=True)):
            _compare(f"{path}/{index}", old, new, found)
    elif before == after:
        pass
    elif isinstance(before, dict) and isinstance(after, dict):
        for key in before | after:
            old, new = before.get(key, UNSET), after.get(key, UNSET)
            _compare_member(f"{path}/{_escaped(key)}", old, new, found)
    else:
        found.append({"op": "replace", "path": path, "value": after})


def _compare_views(path: str, before: View, after: View, found: list[Operation]) -> None:
    """Field by field, and never as a whole: what an edit makes anew shares most of its parts."""
    for name, place in _places(type(before)):
        old, new = getattr(before, name), getattr(after, name)
        if old is not new:
            _compare_member(path + place, old, new, found)


def _compare_member(path: str, old: Any, new: Any, found: list[Operation]) -> None:
    if old is new:
        return
    if new is UNSET:
        found.append({"op": "remove", "path": path})
    elif old is UNSET:
        found.append({"op": "add", "path": path, "value": new})
    else:
        _compare(path, old, new, found)


def _are_alike(before: Any, after: Any) -> bool:
    """Whether both are lists of one length, whose items are compared one by one."""
    return isinstance(before, list) and isinstance(after, list) and len(before) == len(after)


@cache
def _places(view: type[View]) -> tuple[tuple[str, str], ...]:
    """The fields of a view, each with its place in the object as it is written."""
    wire = (f"/{_escaped(name)}" for name in view.__struct_encode_fields__)
    return tuple(zip(view.__struct_fields__, wire, strict=True))


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
