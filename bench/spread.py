"""A figure over the repeats. Pure."""

from collections.abc import Iterable
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
