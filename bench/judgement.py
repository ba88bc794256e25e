"""Whether a promise is kept, and for what it is not. Pure."""

from typing import NamedTuple


class Judgement(NamedTuple):
    """A target; what was found for each thing that it is about, and for which it is missed."""

    target: str
    found: dict[str, str]
    missed: list[str]

    @property
    def is_met(self) -> bool:
        """Is it met for all, and is there anything that it could be met for?"""
        return bool(self.found) and not self.missed
