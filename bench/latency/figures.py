"""From single requests to the figures of one measurement. Pure."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import msgspec

from bench.errors import Unmeasured
from bench.latency.generator import Shot
from bench.spread import percentile

NANOSECONDS_PER_MILLISECOND = 1_000_000


class Figures(msgspec.Struct, frozen=True):
    """Milliseconds, and reviews per second; `reviews` is how many they are of."""

    reviews: int
    per_second: float
    p50: float
    p99: float
    p999: float
    longest: float


def figures(shots: Sequence[Shot], seconds: float, warm_up: float) -> Figures:
    """Of what was asked after the warm-up, up to the end of the load.

    Throughput counts what was answered in that time, so that answers which came late count for
    their latency only. Raises Unmeasured where nothing is left.
    """
    first = min(shot.timestamp for shot in shots)
    begin, end = first + timedelta(seconds=warm_up), first + timedelta(seconds=seconds)
    kept = sorted(shot.latency for shot in shots if shot.timestamp >= begin)
    answered = [shot for shot in shots if begin <= _answered(shot) <= end]
    if not kept:
        raise Unmeasured("nothing was asked after the warm-up: let it take longer")
    return Figures(
        reviews=len(kept),
        per_second=round(len(answered) / (seconds - warm_up), 1),
        p50=_milliseconds(percentile(kept, 0.5)),
        p99=_milliseconds(percentile(kept, 0.99)),
        p999=_milliseconds(percentile(kept, 0.999)),
        longest=_milliseconds(kept[-1]),
    )


def _answered(shot: Shot) -> datetime:
    return shot.timestamp + timedelta(microseconds=shot.latency / 1000)


def _milliseconds(nanoseconds: int) -> float:
    return round(nanoseconds / NANOSECONDS_PER_MILLISECOND, 3)
