"""A figure over the repeats, or over many requests. Pure."""

from collections.abc import Iterable, Sequence
from math import ceil
from statistics import median
from typing import NamedTuple


class Spread(NamedTuple):
    """The median, the least and the most."""

    median: float
    least: float
    most: float


def spread(values: Iterable[float]) -> Spread:
    """Of at least one value."""
    found = list(values)
    return Spread(median(found), min(found), max(found))


def percentile(ordered: Sequence[int], share: float) -> int:
    """The smallest value that at least this share of all values does not exceed."""
    return ordered[max(ceil(share * len(ordered)) - 1, 0)]
