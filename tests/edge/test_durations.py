"""Durations in the configuration."""

from datetime import timedelta

import pytest

from webhook.durations import duration

GOOD = {
    "8760h": timedelta(days=365),
    "90s": timedelta(seconds=90),
    "1h30m": timedelta(minutes=90),
    "1.5h": timedelta(minutes=90),
    "7500ms": timedelta(seconds=7.5),
    "2m3s4ms": timedelta(seconds=123.004),
    "0": timedelta(),
    "0s": timedelta(),
}


@pytest.mark.parametrize(("text", "expected"), GOOD.items())
def test_durations_are_read_as_go_reads_them(text: str, expected: timedelta) -> None:
    """Numbers with units, one after another."""
    assert duration(text) == expected


@pytest.mark.parametrize(
    "text", ["", "90", "h", "1d", "-1h", "1h ", "1 h", "1,5h", "1h30", ".h", "1e3s", "9" * 30 + "h"]
)
def test_anything_else_is_refused(text: str) -> None:
    """No guess is made about a unit or a sign."""
    with pytest.raises(ValueError, match="a duration"):
        duration(text)
