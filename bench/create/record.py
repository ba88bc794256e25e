"""The record of a run: every repeat of every cell, and what it was measured with and on."""

from collections.abc import Iterable
from typing import Final

import msgspec

from bench.create.load import Answer, Operation
from bench.create.objects import Kind
from bench.create.plan import Arm
from bench.environment import Environment
from bench.records import Records
from bench.spread import percentile


class Figures(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Milliseconds, of so many requests."""

    requests: int
    p50: float
    p90: float
    p99: float
    longest: float


class Reviews(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the API server says of its calls of our webhooks, in both namespaces together.

    `seconds` are those of all calls together.
    """

    calls: float
    seconds: float


class Measurement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One repeat of one operation of a cell, in both arms at once.

    `per_second` is of both arms, `failed` are requests that were refused or not answered, which
    have no latency, and `first_problem` is of one of them. `load` is the average over a minute.
    """

    kind: Kind
    clients: int
    pace: float
    operation: Operation
    repeat: int
    arms: dict[Arm, Figures]
    reviews: Reviews
    per_second: float
    failed: int
    first_problem: str | None
    load: float


class Share(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """CPU seconds that a process took while clients were sending."""

    process: str
    cpu: float


class Conditions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How it was measured; `seconds` is how long clients were sending."""

    environment: Environment
    repeats: int
    seconds: float
    shares: list[Share]


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole run."""

    conditions: Conditions
    measurements: list[Measurement]


def figures(answers: Iterable[Answer]) -> Figures | None:
    """Of those that succeeded; None if none did."""
    kept = sorted(round(item.milliseconds * 1000) for item in answers if not item.problem)
    if not kept:
        return None
    p50, p90, p99 = (percentile(kept, share) / 1000 for share in (0.5, 0.9, 0.99))
    return Figures(len(kept), p50, p90, p99, kept[-1] / 1000)


_FILES: Final = Records(Record, "kind")
read, write = _FILES.read, _FILES.write
