"""Quantities: what they stand for, and how a sum is written."""

from decimal import Decimal

import pytest

from webhook.demand.quantities import Quantity, added, amount, greatest, written

AMOUNTS: dict[Quantity, str] = {
    "1": "1",
    2: "2",
    0.5: "0.5",
    "500m": "0.5",
    "1e3": "1000",
    "1k": "1000",
    "1Ki": "1024",
    "1.5Gi": "1610612736",
    "2M": "2000000",
    "3E": "3000000000000000000",
    ".5": "0.5",
    "100n": "1E-7",
}
WRITTEN = {
    "0": "0",
    "8": "8",
    "2.1": "2100m",
    "0.25": "250m",
    "1000": "1k",
    "1024": "1Ki",
    "1610612736": "1536Mi",
    "68719476736": "64Gi",
    "500000000": "500M",
    "1E-7": "1m",
}


@pytest.mark.parametrize("quantity", AMOUNTS, ids=str)
def test_a_quantity_stands_for_a_number(quantity: Quantity) -> None:
    """Suffixes of all three kinds, and numbers as YAML has them."""
    assert amount(quantity) == Decimal(AMOUNTS[quantity])


@pytest.mark.parametrize("text", ["", "lots", "1 Gi", "1ki", "1e", "--1", "1e999", "\u0661"])
def test_what_is_no_quantity_is_refused(text: str) -> None:
    """Named as it was written."""
    with pytest.raises(ValueError, match="is no quantity"):
        amount(text)


@pytest.mark.parametrize("number", WRITTEN)
def test_a_number_is_written_with_the_largest_suffix(number: str) -> None:
    """Without a fraction; what is smaller than a thousandth is rounded up."""
    assert written(Decimal(number)) == WRITTEN[number]


def test_sums_and_maxima_are_made_resource_by_resource() -> None:
    """What one side lacks is nothing."""
    one, other = {"cpu": Decimal(1), "memory": Decimal(2)}, {"cpu": Decimal(3), "gpu": Decimal(1)}
    assert added(one, other) == {"cpu": 4, "memory": 2, "gpu": 1}
    assert greatest(one, other) == {"cpu": 3, "memory": 2, "gpu": 1}
