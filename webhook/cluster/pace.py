"""How long the companion works without a pause: reviews are answered on the same thread."""

import asyncio
from typing import Final

SLICE: Final = 25
"""Objects; each takes about a tenth of a millisecond at most."""


class Pace:
    """Counts steps of work, and lets all others run after every slice of them."""

    def __init__(self) -> None:
        self._steps = 0

    async def step(self) -> None:
        """One object is done."""
        self._steps += 1
        if self._steps % SLICE == 0:
            await asyncio.sleep(0)
