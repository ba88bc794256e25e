"""The records of all four benches."""

from pathlib import Path
from typing import NamedTuple

from bench.create import record as create
from bench.environment import Environment
from bench.growth import record as growth
from bench.latency import record as latency
from bench.quota import record as quota


class Records(NamedTuple):
    """One of each."""

    latency: latency.Record
    create: create.Record
    quota: quota.Record
    growth: growth.Record

    @property
    def environments(self) -> dict[str, Environment]:
        """What each was measured with, in the order of the page."""
        return {
            "quota": self.quota.environment,
            "latency": self.latency.conditions.environment,
            "create": self.create.conditions.environment,
            "growth": self.growth.conditions.environment,
        }


def read(folder: Path) -> Records:
    """Read `latency.json` and so on. Raises RecordRefused."""
    return Records(
        latency.read(folder / "latency.json"),
        create.read(folder / "create.json"),
        quota.read(folder / "quota.json"),
        growth.read(folder / "growth.json"),
    )
