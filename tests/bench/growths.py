"""Records of runs of growth, made up."""

from typing import Any

from bench.growth.objects import Mode
from bench.growth.record import Admissions, Conditions, Record, Reviews, Run
from tests.bench.creates import ENVIRONMENT

REVIEWS_EACH = 9
WRITES_EACH = 50
CPU = {"kube-apiserver": 0.5, "kueue": 0.1, "webhook": 0.01}
"""Seconds of each TrainJob."""


def run(size: int, mode: Mode = Mode.STEPPED, **changes: Any) -> Run:
    """A play in which every TrainJob costs the same."""
    calls, p99 = changes.pop("calls", size * REVIEWS_EACH), changes.pop("p99", 20.0)
    usual: dict[str, Any] = {
        "mode": mode,
        "size": size,
        "repeat": 0,
        "finished": size,
        "creating": size / 50,
        "seconds": size / 2 + 5,
        "admissions": Admissions(size * 3, size / 2, 1.0),
        "reviews": Reviews(calls, 4.0, p99, p99 / 10),
        "writes": {"jobs": size * (WRITES_EACH - 20), "workloads/status": size * 20},
        "cpu": {name: seconds * size for name, seconds in CPU.items()},
        "memory": 90.0,
        "memory_peak": 95.0,
        "busy": 0.95,
        "load": 0.5,
    }
    return Run(**usual | changes)


def record(*runs: Run) -> Record:
    """A record of these."""
    return Record(Conditions(ENVIRONMENT, "1000/2000", 20, [10, 100, 1000]), list(runs))
