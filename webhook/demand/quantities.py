"""Kubernetes quantities: read, added up, written as a person would."""

import re
from decimal import Decimal
from typing import Final, TypeAlias

Quantity: TypeAlias = str | int | float
Amounts: TypeAlias = dict[str, Decimal]

_BINARY: Final = {f"{letter}i": Decimal(1024) ** power for power, letter in enumerate("KMGTPE", 1)}
_DECIMAL: Final = {letter: Decimal(1000) ** power for power, letter in enumerate("kMGTPE", 1)}
_SMALL: Final = {letter: Decimal(1000) ** -power for power, letter in enumerate("mun", 1)}
_FACTORS: Final = {"": Decimal(1), **_SMALL, **_DECIMAL, **_BINARY}
_SHAPE: Final = re.compile(
    r"([-+]?(?:\d+\.?\d*|\.\d+))(?:([eE][-+]?\d{1,2})|([KMGTPE]i|[numkMGTPE]))?", re.ASCII
)


def amount(quantity: Quantity) -> Decimal:
    """The number that a quantity stands for; ValueError where it is none."""
    if (match := _SHAPE.fullmatch(str(quantity))) is None:
        raise ValueError(f"{quantity!r} is no quantity")
    number, exponent, suffix = match.groups(default="")
    return Decimal(number + exponent) * _FACTORS[suffix]


def written(number: Decimal) -> str:
    """A quantity with the largest suffix that needs no fraction."""
    if number == 0:
        return "0"
    for suffix, factor in (*reversed(_BINARY.items()), *reversed(_DECIMAL.items())):
        if number % factor == 0:
            return f"{number / factor:f}{suffix}"
    if number % 1 == 0:
        return f"{number:f}".partition(".")[0]
    return f"{(number * 1000).to_integral_value(rounding='ROUND_CEILING'):f}m"


def added(one: Amounts, other: Amounts) -> Amounts:
    """The sum of both, resource by resource."""
    return {key: one.get(key, Decimal()) + other.get(key, Decimal()) for key in one | other}


def greatest(one: Amounts, other: Amounts) -> Amounts:
    """The greater of both, resource by resource."""
    return {key: max(one.get(key, Decimal()), other.get(key, Decimal())) for key in one | other}
