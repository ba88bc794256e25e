"""The record of the timeline: what was measured, in the form in which it is kept.

Reading is strict: a picture is drawn from a complete and consistent record, or not at all.
"""

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import msgspec

from bench.environment import Environment
from bench.errors import RecordRefused
from bench.records import Records
from localcluster.demo.meter import Figures
from localcluster.demo.runs import Run

# Figures are rounded to tenths, times to milliseconds.
TOLERANCE = 0.2


class Gpus(NamedTuple):
    """From `seconds` after the submission on, until the next of them."""

    seconds: float
    reserved: int
    used: int


class Lane(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One mode: the step functions, when steps ran, and the figures."""

    gpus: list[Gpus]
    runs: list[Run]
    figures: Figures

    def gpu_seconds(self, value: Callable[[Gpus], float]) -> float:
        """The area under `value` over time."""
        return sum(value(now) * (after.seconds - now.seconds) for now, after in pairwise(self.gpus))


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The same TrainJobs on the same quota, whole and stepped."""

    environment: Environment
    whole: Lane
    stepped: Lane

    @property
    def quota(self) -> int:
        """The GPUs of either lane's ClusterQueue."""
        return self.whole.figures.gpu_quota

    @property
    def lanes(self) -> dict[str, Lane]:
        """Both modes, by name."""
        return {"whole": self.whole, "stepped": self.stepped}


def read(path: Path) -> Record:
    """Read a record; RecordRefused names the field that is missing, wrong or contradicted."""
    record = Records(Record).read(path)
    if contradiction := next(contradictions(record), None):
        raise RecordRefused(path, contradiction)
    return record


def write(path: Path, record: Record) -> None:
    """Write the record, one line for each moment so that two records can be compared."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_text(record))


def contradictions(record: Record) -> Iterator[str]:
    """Where the fields do not go together."""
    for name, lane in record.lanes.items():
        yield from _of_lane(name, lane)
    quota = record.stepped.figures.gpu_quota
    if quota != record.quota:
        yield f"stepped.figures.gpu_quota is {quota}, but that of whole is {record.quota}"


def _of_lane(name: str, lane: Lane) -> Iterator[str]:
    if not lane.gpus:
        yield f"{name}.gpus has no moments"
    if any(after.seconds <= now.seconds for now, after in pairwise(lane.gpus)):
        yield f"{name}.gpus does not go forward in time"
    for key, value in MEASURES.items():
        said, found = getattr(lane.figures, key), lane.gpu_seconds(value)
        if abs(said - found) > TOLERANCE:
            yield f"{name}.figures.{key} is {said:g}, but {name}.gpus give {found:.1f}"


MEASURES: dict[str, Callable[[Gpus], float]] = {
    "gpu_seconds_reserved": lambda gpus: gpus.reserved,
    "gpu_seconds_used": lambda gpus: gpus.used,
    "gpu_seconds_idle": lambda gpus: gpus.reserved - gpus.used,
}


def _text(record: Record) -> str:
    indented = msgspec.json.format(msgspec.json.encode(record), indent=1).decode()
    return _FLAT.sub(lambda found: "[" + " ".join(found[1].split()) + "]", indented) + "\n"


# A list of plain values.
_FLAT = re.compile(r"\[([^][{}]*)\]")
