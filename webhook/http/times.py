"""How long a replica that goes still serves."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Times:
    """Seconds. API servers keep idle connections for 90 s, and may have opened one just now.

    `quiet`: for so long nobody new must have come; endpoints need about that long to be known.
    `longest`: then what is still open is closed.
    """

    quiet: float = 5.0
    longest: float = 100.0
