"""Durations as Kubernetes people write them: "8760h", "1h30m", "1.5s", "90s"."""

import re
from datetime import timedelta
from typing import Final

_SECONDS: Final = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_PART: Final = re.compile(r"(\d+(?:\.\d+)?)(ms|h|m|s)")
_WHOLE: Final = re.compile(rf"(?:{_PART.pattern})+")


def duration(text: str) -> timedelta:
    """The duration that Go's time.ParseDuration reads, in hours to milliseconds, unsigned.

    Raises ValueError.
    """
    if text == "0":
        return timedelta()
    if not _WHOLE.fullmatch(text):
        raise ValueError('a duration is a number with h, m, s or ms, such as "8760h" or "1h30m"')
    try:
        return timedelta(
            seconds=sum(float(number) * _SECONDS[unit] for number, unit in _PART.findall(text))
        )
    except OverflowError:
        raise ValueError("a duration of more than 2,739,000 years") from None
