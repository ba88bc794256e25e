"""The record of a timeline: kept as it was measured, and read only if it is whole."""

import json
import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench.errors import RecordRefused
from bench.timeline import record
from bench.timeline.__main__ import KEPT

Json = dict[str, Any]


def without(*path: str) -> Callable[[Json], None]:
    """A change that takes a field out."""

    def change(document: Json) -> None:
        for key in path[:-1]:
            document = document[key]
        del document[path[-1]]

    return change


def with_value(value: object, *path: str | int) -> Callable[[Any], None]:
    """A change that puts something else in."""

    def change(document: Any) -> None:
        for key in path[:-1]:
            document = document[key]
        document[path[-1]] = value

    return change


DEFECTS: dict[str, tuple[Callable[[Json], None], str]] = {
    "no lane": (without("stepped"), "required field `stepped`"),
    "no step function": (without("whole", "gpus"), r"required field `gpus` - at `\$.whole`"),
    "no figure": (
        without("stepped", "figures", "makespan_seconds"),
        r"required field `makespan_seconds` - at `\$.stepped.figures`",
    ),
    "no versions": (
        without("environment", "versions"),
        r"required field `versions` - at `\$.environment`",
    ),
    "no load": (without("environment", "load_after"), "required field `load_after`"),
    "a moment without its use": (
        with_value([0.0, 8], "whole", "gpus", 0),
        r"`array` of length 3 - at `\$.whole.gpus\[0\]`",
    ),
    "words in place of a number": (
        with_value("eight", "whole", "figures", "gpu_quota"),
        r"Expected `int`, got `str` - at `\$.whole.figures.gpu_quota`",
    ),
    "a field that is none": (with_value(1, "whole", "gpu"), "unknown field `gpu`"),
    "a figure that the step function does not give": (
        with_value(1.0, "whole", "figures", "gpu_seconds_idle"),
        r"whole.figures.gpu_seconds_idle is 1, but whole.gpus give \d+",
    ),
    "nothing measured": (with_value([], "stepped", "gpus"), "stepped.gpus has no moments"),
    "time that runs back": (
        with_value([-1.0, 0, 0], "whole", "gpus", 1),
        "whole.gpus does not go forward in time",
    ),
    "lanes of different quotas": (
        with_value(9, "stepped", "figures", "gpu_quota"),
        "stepped.figures.gpu_quota is 9, but that of whole is 8",
    ),
}


@pytest.mark.parametrize("name", DEFECTS)
def test_a_record_with_a_defect_is_refused(name: str, tmp_path: Path) -> None:
    """The message names the file, the field and the way out."""
    change, message = DEFECTS[name]
    document = json.loads(KEPT.read_text())
    change(document)
    path = tmp_path / "timeline.json"
    path.write_text(json.dumps(document))
    with pytest.raises(RecordRefused, match=message) as refused:
        record.read(path)
    assert str(refused.value).startswith(f"{path}: ")
    assert str(refused.value).endswith("; measure it anew")


@pytest.mark.parametrize("content", [None, "", "[]"], ids=["missing", "empty", "a list"])
def test_what_is_no_record_is_refused(content: str | None, tmp_path: Path) -> None:
    """In words, not with a traceback of the parser."""
    path = tmp_path / "timeline.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(RecordRefused):
        record.read(path)


def test_writing_what_was_read_changes_nothing(tmp_path: Path) -> None:
    """The committed record is in the form in which records are written."""
    path = tmp_path / "new" / "timeline.json"
    record.write(path, record.read(KEPT))
    assert path.read_bytes() == KEPT.read_bytes()


def test_the_committed_record_tells_nothing_of_its_machine() -> None:
    """Neither a path nor the host's name; what counts for the measurement is there."""
    text = KEPT.read_text()
    assert "/" not in text
    assert platform.node() not in text
    made = record.read(KEPT).environment
    assert {"kueue-steps", "Kubernetes", "Kueue", "JobSet", "Trainer"} <= made.versions.keys()
    assert made.cpus >= 1
