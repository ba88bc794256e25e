"""What the API server says of the webhooks that it called: how often, and for how long.

Its own clock, so that what it counts is all that a client waits for: the connection, the way there
and back, our answer, and reading it.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Self, TypeVar

K = TypeVar("K")

OURS: Final = ".kueue-steps.io"
METRIC: Final = "apiserver_admission_webhook_admission_duration_seconds"

_LINE: Final = re.compile(METRIC + r"_(bucket|sum|count)\{(.*)\} (\S+)")
_LABEL: Final = re.compile(r'(\w+)="([^"]*)"')


class Series(NamedTuple):
    """A webhook and an operation."""

    name: str
    operation: str


@dataclass(frozen=True)
class Calls:
    """How many, the seconds of all, and how many took at most so many seconds."""

    count: float = 0.0
    seconds: float = 0.0
    within: Mapping[float, float] = field(default_factory=dict)

    def __add__(self, other: Self) -> "Calls":
        return self._with(other, 1)

    def __sub__(self, other: Self) -> "Calls":
        return self._with(other, -1)

    @property
    def mean_milliseconds(self) -> float:
        """0 where there were none."""
        return self.seconds / self.count * 1000 if self.count else 0.0

    def milliseconds(self, share: float) -> float:
        """The time within which this share was answered, between two bounds in proportion.

        That is what Prometheus' histogram_quantile does; what took longer than the largest bound
        counts as that bound, and 0 says that there were none.
        """
        bounds = sorted(self.within)
        counts = [self.within[bound] for bound in bounds]
        rank = share * self.count
        if not self.count:
            return 0.0
        found = bisect_left(counts, rank)
        if found == len(bounds) or bounds[found] == float("inf"):
            return max((bound for bound in bounds if bound != float("inf")), default=0.0) * 1000
        low, under = (bounds[found - 1], counts[found - 1]) if found else (0.0, 0.0)
        return (low + (bounds[found] - low) * (rank - under) / (counts[found] - under)) * 1000

    def _with(self, other: "Calls", sign: int) -> "Calls":
        bounds = self.within.keys() | other.within.keys()
        return Calls(
            self.count + sign * other.count,
            self.seconds + sign * other.seconds,
            {b: self.within.get(b, 0.0) + sign * other.within.get(b, 0.0) for b in bounds},
        )


Seen = Mapping[Series, Calls]


def read(metrics: str) -> dict[Series, Calls]:
    """The calls of each webhook since the API server started, from its /metrics."""
    within: dict[Series, dict[float, float]] = {}
    sums: dict[Series, dict[str, float]] = {}
    for what, labels, value in _LINE.findall(metrics):
        said = dict(_LABEL.findall(labels))
        series = Series(said["name"], said["operation"])
        # Mutating and validating, accepted and rejected are series of their own.
        if what == "bucket":
            _add(within.setdefault(series, {}), float(said["le"]), float(value))
        else:
            _add(sums.setdefault(series, {}), what, float(value))
    return {
        series: Calls(found["count"], found["sum"], within.get(series, {}))
        for series, found in sums.items()
    }


def since(before: Seen, after: Seen, names: str, operation: str | None = None) -> Calls:
    """The calls between two readings of all webhooks whose names end so."""
    return _total(after, names, operation) - _total(before, names, operation)


def _add(counts: dict[K, float], key: K, value: float) -> None:
    counts[key] = counts.get(key, 0.0) + value


def _total(seen: Seen, names: str, operation: str | None) -> Calls:
    chosen: Iterable[Calls] = (
        calls
        for series, calls in seen.items()
        if series.name.endswith(names) and operation in {None, series.operation}
    )
    return sum(chosen, Calls())
