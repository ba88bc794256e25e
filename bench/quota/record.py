"""The record of a run: the trace, and every play of it."""

from pathlib import Path

import msgspec

from bench.environment import Environment
from bench.errors import RecordRefused
from bench.quota.courses import Course
from bench.quota.figures import Figures
from bench.quota.meter import Moment
from bench.quota.plan import Mode
from bench.quota.trace import Planned


class Measurement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One play; `average` is the load average of the machine over a minute, at its end.

    `curve` is all TrainJobs together, `courses` are each of them.
    """

    load: float
    mode: Mode
    repeat: int
    average: float
    figures: Figures
    courses: list[Course]
    curve: list[Moment]


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole run."""

    environment: Environment
    quota: int
    seed: int
    trace: list[Planned]
    plays: list[Measurement]


def write(record: Record, path: Path) -> None:
    """Write it as JSON, a play or a TrainJob a line."""
    text = msgspec.json.encode(record)
    for opening in (b'{"load":', b'{"name":'):
        text = text.replace(opening, b"\n" + opening)
    path.write_bytes(text + b"\n")


def read(path: Path) -> Record:
    """Read it back. Raises RecordRefused."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Record)
    except (OSError, msgspec.DecodeError) as error:
        raise RecordRefused(path, str(error)) from error
