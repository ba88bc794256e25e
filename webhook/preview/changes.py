"""What a review changes in an object: the object afterwards, and the lines that differ."""

import copy
from collections.abc import Sequence
from difflib import unified_diff
from itertools import islice
from typing import Any, Final

import yaml

from webhook.preview.documents import Object
from webhook.rules.patch import Operation

CONTEXT: Final = 2
HEAD: Final = 2
"""Lines with file names at the beginning of a unified diff."""


def patched(content: Object, operations: Sequence[Operation]) -> Object:
    """A copy of the object after the operations of `rules.patch` (add, remove, replace)."""
    result = copy.deepcopy(content)
    for operation in operations:
        *way, last = [_unescaped(part) for part in operation["path"].split("/")[1:]]
        place: Any = result
        for part in way:
            place = place[int(part)] if isinstance(place, list) else place[part]
        key: Any = int(last) if isinstance(place, list) else last
        if operation["op"] == "remove":
            del place[key]
        else:
            place[key] = operation["value"]
    return result


def difference(before: Object, after: Object) -> list[str]:
    """Unified diff of both objects as YAML, without a head; empty where nothing changes."""
    lines = unified_diff(_lines(before), _lines(after), n=CONTEXT, lineterm="")
    return list(islice(lines, HEAD, None))


def _lines(content: Object) -> list[str]:
    return yaml.safe_dump(content, sort_keys=False, width=1000, allow_unicode=True).splitlines()


def _unescaped(part: str) -> str:
    return part.replace("~1", "/").replace("~0", "~")
