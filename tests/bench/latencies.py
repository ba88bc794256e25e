"""Records of latency runs, made up."""

from typing import Any

from bench.environment import Environment
from bench.latency.contenders import Side
from bench.latency.decision import Timing
from bench.latency.figures import Figures
from bench.latency.plan import OPEN_RATE, Group
from bench.latency.record import Conditions, Measurement, Posted, Record

JOB = "Job CREATE by JobSet"
GOOD = {Side.OURS: 6000.0, Side.KUEUE: 1500.0, Side.FLOOR: 7000.0}


def measurement(side: Side, **changes: Any) -> Measurement:
    """One repeat of the usual cell."""
    per_second = changes.pop("per_second", GOOD[side])
    p99 = changes.pop("p99", 5.0 if side is Side.OURS else 20.0)
    figures = Figures(1000, per_second, p50=p99 / 2, p99=p99, p999=p99 * 2, longest=p99 * 3)
    usual: dict[str, Any] = {
        "group": Group.USUAL,
        "title": JOB,
        "side": side,
        "repeat": 0,
        "figures": figures,
        "denied": 0,
        "cpu": 1e6 / per_second,
        "generator": 80.0,
        "generator_share": 0.5,
        "memory": 90.0,
        "memory_peak": 90.0 if side is Side.OURS else 100.0,
        "load": 0.5,
    }
    return Measurement(**usual | changes)


def opened(**changes: Any) -> Measurement:
    """One repeat of our open loop."""
    return measurement(
        Side.OURS,
        **{"group": Group.OPEN, "title": "open", "per_second": float(OPEN_RATE), **changes},
    )


def slow_kueue() -> Measurement:
    """Kueue's open loop."""
    title: dict[str, Any] = {"group": Group.OPEN, "title": "open", "per_second": 800.0}
    return measurement(Side.KUEUE, **title)


def environment() -> Environment:
    """Two CPUs, and not idle."""
    return Environment("2026-01-01", {"Kueue": "0.19.2"}, 2, (0.1, 0.2, 0.3), (1, 2, 3))


def record(*measurements: Measurement, decision: float = 30.0) -> Record:
    """A record with one review."""
    conditions = Conditions(environment(), {"vegeta": "12.13.0"}, "secp256r1", False, 1)
    timing = Timing(decision - 5, decision, decision * 3, "Held")
    posted = Posted(6000, "/mutate-batch-v1-job", {Side.OURS: 500, Side.KUEUE: 300})
    return Record(conditions, {f"{JOB}, median": posted}, {JOB: timing}, list(measurements))


def good() -> Record:
    """A record that meets every target."""
    usual = [measurement(side) for side in Side]
    return record(*usual, opened(), slow_kueue())
