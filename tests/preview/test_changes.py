"""What a review changes: applied like any client would, shown as a diff."""

from typing import Any

import jsonpatch
import pytest

from webhook.preview.changes import difference, patched

BEFORE = {"metadata": {"labels": {"a/b": "1", "c~d": "2"}}, "spec": {"jobs": [{"n": 1}, {"n": 2}]}}
OPERATIONS: dict[str, list[dict[str, Any]]] = {
    "added": [{"op": "add", "path": "/metadata/labels/x~1y", "value": "3"}],
    "removed": [{"op": "remove", "path": "/metadata/labels/a~1b"}],
    "replaced": [{"op": "replace", "path": "/metadata/labels/c~0d", "value": "3"}],
    "within a list": [{"op": "replace", "path": "/spec/jobs/1/n", "value": 3}],
    "an item of a list": [{"op": "replace", "path": "/spec/jobs/0", "value": {"n": 7}}],
    "nothing": [],
}


@pytest.mark.parametrize("operations", OPERATIONS.values(), ids=OPERATIONS.keys())
def test_operations_are_applied_as_rfc_6902_says(operations: list[dict[str, Any]]) -> None:
    """The jsonpatch library makes the same of it."""
    assert patched(BEFORE, operations) == jsonpatch.apply_patch(BEFORE, operations)


def test_the_object_itself_stays_as_it_was() -> None:
    """A copy is changed."""
    after = patched(BEFORE, OPERATIONS["within a list"])
    assert after != BEFORE
    assert BEFORE["spec"] == {"jobs": [{"n": 1}, {"n": 2}]}


def test_only_what_changed_is_shown() -> None:
    """Changed lines with two lines around them, and no file names."""
    before = {"a": 1, "b": 2, "c": 3, "d": 4, "e": 5}
    expected = ["@@ -3,3 +3,3 @@", " c: 3", " d: 4", "-e: 5", "+e: 6"]
    assert difference(before, {**before, "e": 6}) == expected
    assert difference(before, before) == []
