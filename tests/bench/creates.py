"""Records of runs of creates, made up."""

from typing import Any

from bench.create.load import Operation
from bench.create.objects import Kind
from bench.create.plan import JUDGED_CLIENTS, PACE_SECONDS, Arm
from bench.create.record import Conditions, Figures, Measurement, Record, Reviews, Share
from bench.environment import Environment

ENVIRONMENT = Environment("2026-01-01", {"Kueue": "0.19.2"}, 2, (0.1, 0.2, 0.3), (1, 2, 3))


def figures(p50: float, p99: float) -> Figures:
    """Of a hundred requests."""
    return Figures(100, p50, (p50 + p99) / 2, p99, p99 * 2)


def measurement(kind: Kind = Kind.TRAINJOB, **changes: Any) -> Measurement:
    """One repeat with 50 clients; `p50` and `p99` are what is added to 20 and 80 ms."""
    p50, p99 = changes.pop("p50", 1.0 * kind.is_ours), changes.pop("p99", 2.0 * kind.is_ours)
    usual: dict[str, Any] = {
        "kind": kind,
        "clients": JUDGED_CLIENTS,
        "pace": 0.0,
        "operation": Operation.CREATE,
        "repeat": 0,
        "arms": {Arm.WITH: figures(20 + p50, 80 + p99), Arm.WITHOUT: figures(20, 80)},
        "reviews": Reviews(100.0, 0.25) if kind.is_ours else Reviews(0.0, 0.0),
        "per_second": 200.0,
        "failed": 0,
        "first_problem": None,
        "load": 0.5,
    }
    return Measurement(**usual | changes)


def record(*measurements: Measurement) -> Record:
    """A record of these."""
    conditions = Conditions(ENVIRONMENT, 3, 60.0, [Share("kube-apiserver", 80.0)])
    return Record(conditions, list(measurements))


def paced(kind: Kind = Kind.TRAINJOB, **changes: Any) -> Measurement:
    """One repeat of clients that take their time."""
    return measurement(kind, **{"pace": PACE_SECONDS, **changes})


def good() -> list[Measurement]:
    """Measurements that meet every target."""
    return [make(kind) for kind in Kind for make in (measurement, paced)]
