"""How many TrainJobs are submitted, how, and in which order. Pure."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from bench.growth.objects import Mode

SIZES: Final = (10, 100, 1000)
LARGE: Final = 10_000
QUICK_SIZES: Final = (5, 20)
SEVERAL_UP_TO: Final = 10
"""What is larger takes minutes, and is played once."""

WHOLE_UP_TO: Final = 100
"""What is larger is cut where it does not fit into the time."""

REPEATS: Final = 2
MINUTES: Final = 6.0
CUT_TO: Final = 50
"""What is cut is a multiple of it."""


class Play(NamedTuple):
    """So many TrainJobs at once."""

    size: int
    mode: Mode
    repeat: int

    @property
    def namespace(self) -> str:
        """Where."""
        return f"{self.mode}-{self.size}-{self.repeat}"


def fitting(size: int, seconds_each: float, seconds_left: float) -> int:
    """The size if all modes of it fit into the time, else what of it does; 0 if hardly any does.

    `seconds_each` is what one TrainJob took before in all modes together.
    """
    if size <= WHOLE_UP_TO or size * seconds_each <= seconds_left:
        return size
    most = int(seconds_left / seconds_each) // CUT_TO * CUT_TO
    return most if most > WHOLE_UP_TO else 0


def in_order(sizes: Sequence[int], repeats: int) -> Iterator[Play]:
    """Size by size, the least first, and A B, B A, A B and so on."""
    rounds = [
        (size, repeat)
        for size in sorted(sizes)
        for repeat in range(repeats if size <= SEVERAL_UP_TO else 1)
    ]
    for number, (size, repeat) in enumerate(rounds):
        modes = list(Mode) if number % 2 == 0 else reversed(Mode)
        yield from (Play(size, mode, repeat) for mode in modes)
