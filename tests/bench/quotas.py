"""Plays of a quota of GPUs, made up."""

from typing import Any

from bench.environment import Environment
from bench.quota import trace
from bench.quota.courses import Course
from bench.quota.figures import Figures, Times
from bench.quota.meter import Gpus, Moment
from bench.quota.plan import QUOTA, Mode
from bench.quota.record import Measurement, Record

TRACE = trace.trace(16, seed=1)
WASTE = trace.removable(TRACE)
LOADS = (0.5, 0.9, 1.3)
MAKESPANS = {0.5: (50.0, 50.0), 0.9: (40.0, 35.0), 1.3: (60.0, 40.0)}
"""Whole, and stepped."""


def measurement(mode: Mode, load: float, repeat: int = 0, **changes: Any) -> Measurement:
    """One good play."""
    is_whole = mode is Mode.WHOLE
    waits = WASTE if is_whole else 0.0
    gpus = Gpus(1000 + waits, 900, waits, hand_over=80, tail=20)
    usual: dict[str, Any] = {
        "gpu_seconds": gpus,
        "initializers_stepped": waits,
        "initializers_left": 0.0,
        "hand_over": 0.5,
        "peak_used": QUOTA,
        "makespan": MAKESPANS[load][not is_whole],
        "completion": Times(16, 12.0 if is_whole else 10.0, 30.0 if is_whole else 25.0),
        "single_step": Times(2, 6.0, 8.0),
        "queued": {"node": Times(14, 1.0, 4.0)},
        "evictions": 0,
        "violations": [],
        "astray": [],
        "late": 0.01,
    }
    curve = [Moment(0.0, Gpus()), Moment(1.0, Gpus(8, 8)), Moment(usual["makespan"], Gpus())]
    courses = [Course("t000", 0.0, 0.1, 0.2, 1.0, 5.0, 6.0, None)]
    return Measurement(load, mode, repeat, 1.5, Figures(**usual | changes), courses, curve)


def plays(**changes: Any) -> list[Measurement]:
    """One of each; the changes are those of stepped at load 0.9."""
    return [
        measurement(mode, load, **(changes if (mode, load) == (Mode.STEPPED, 0.9) else {}))
        for load in LOADS
        for mode in Mode
    ]


def record(*played: Measurement) -> Record:
    """A record of these plays."""
    environment = Environment(
        "2026-01-01", {"Kueue": "0.19.2"}, 2, (0.1, 0.2, 0.3), (1.0, 2.0, 3.0)
    )
    return Record(environment, QUOTA, 1, TRACE, list(played))
