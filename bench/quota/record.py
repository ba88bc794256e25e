"""The record of a run: the trace, and every play of it."""

from typing import Final

import msgspec

from bench.environment import Environment
from bench.quota.courses import Course
from bench.quota.figures import Figures
from bench.quota.meter import Moment
from bench.quota.plan import Mode
from bench.quota.trace import Planned
from bench.records import Records


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


_FILES: Final = Records(Record, "load", "name")
read, write = _FILES.read, _FILES.write
