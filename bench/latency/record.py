"""The record of a run: every repeat, and what it was measured with and on."""

from typing import Final

import msgspec

from bench.environment import Environment
from bench.latency.contenders import Side
from bench.latency.decision import Timing
from bench.latency.figures import Figures
from bench.latency.plan import Group
from bench.records import Records


class Posted(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A review that was fired; bytes of it and of each side's answer to it."""

    size: int
    kueue_path: str
    answers: dict[Side, int]


class Measurement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One repeat of one cell on one side.

    `denied` are answers, too, but not those that the review should get: a look-up took too long.
    `cpu` is what the server took per review, in microseconds, `generator` the same of the load
    generator, and `generator_share` how much of its core that was. Memory is resident MiB, at the
    end and at most. `load` is the average over one minute, before.
    """

    group: Group
    title: str
    side: Side
    repeat: int
    figures: Figures
    denied: int
    cpu: float
    generator: float
    generator_share: float
    memory: float
    memory_peak: float
    load: float

    @property
    def cell(self) -> tuple[Group, str]:
        """What it is a repeat of."""
        return self.group, self.title


class Conditions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How it was measured. `core_is_shared`: server and generator ran on threads of one core."""

    environment: Environment
    tools: dict[str, str]
    key: str
    core_is_shared: bool
    repeats: int


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole run."""

    conditions: Conditions
    reviews: dict[str, Posted]
    decisions: dict[str, Timing]
    measurements: list[Measurement]


_FILES: Final = Records(Record, "group")
read, write = _FILES.read, _FILES.write
