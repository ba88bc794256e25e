"""What a measurement was made with: all that a reader needs to judge it, and no name or path."""

import os
from datetime import UTC, datetime

import msgspec

import webhook
from localcluster import modules

COMPONENTS = {
    "Kubernetes": modules.KUBERNETES,
    "Kueue": modules.KUEUE,
    "JobSet": modules.JOBSET,
    "Trainer": modules.TRAINER,
    "KWOK": modules.KWOK,
}

Load = tuple[float, float, float]


class Environment(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`date` is UTC; `load_*` are the averages over 1, 5 and 15 minutes."""

    date: str
    versions: dict[str, str]
    cpus: int
    load_before: Load
    load_after: Load

    @property
    def made_with(self) -> str:
        """The versions, as sentences have them."""
        return ", ".join(f"{name} {version}" for name, version in self.versions.items())


class Observed:
    """An environment that is whole once the measurement is over."""

    def __init__(self) -> None:
        self._date = datetime.now(UTC).date().isoformat()
        self._load_before = _load()

    def until_now(self) -> Environment:
        """The environment of what was measured since this was made."""
        return Environment(
            date=self._date,
            versions=versions(),
            cpus=os.cpu_count() or 1,
            load_before=self._load_before,
            load_after=_load(),
        )


def versions() -> dict[str, str]:
    """Ours, and those of what is upstream, without the v that Go writes."""
    required = modules.read_go_mod().versions
    upstream = {name: required[module].removeprefix("v") for name, module in COMPONENTS.items()}
    return {"kueue-steps": webhook.__version__} | upstream


def _load() -> Load:
    one, five, fifteen = os.getloadavg()
    return round(one, 2), round(five, 2), round(fifteen, 2)
