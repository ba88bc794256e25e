"""Which kinds are sent by how many clients, for how long, and in which order. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from bench.create.objects import Kind

CLIENTS: Final = (10, 50, 200)
JUDGED_CLIENTS: Final = 50
SECONDS: Final = 2.0
JUDGED_SECONDS: Final = 4.0
PACED_SECONDS: Final = 6.0
PACE_SECONDS: Final = 1.0
"""Between two requests of a client that is not in a hurry."""


class Arm(StrEnum):
    """The two namespaces: our registration is about the first, and leaves the second out."""

    WITH = "with"
    WITHOUT = "without"


@dataclass(frozen=True)
class Cell:
    """So many clients that send one kind for some seconds, each of them one object at least.

    `pace` is the seconds between two requests of a client; 0: as fast as it is answered.
    """

    kind: Kind
    clients: int
    seconds: float
    pace: float = 0.0

    @property
    def title(self) -> str:
        """What it is while it runs."""
        return f"{self.kind}, {crowd(self.clients, self.pace)}"

    def due(self, client: int, request: int) -> float:
        """When a client sends a request at the earliest, in seconds since the load began."""
        return self.pace * (client / self.clients + request)


@dataclass(frozen=True)
class Plan:
    """The cells one after another, and all of them so many times, every second time backwards."""

    cells: Sequence[Cell]
    repeats: int

    @property
    def seconds(self) -> float:
        """How long clients are sending."""
        return sum(cell.seconds for cell in self.cells) * self.repeats

    def in_order(self) -> Iterator[tuple[int, Cell]]:
        """Repeat and cell."""
        for repeat in range(self.repeats):
            cells = self.cells if repeat % 2 == 0 else reversed(self.cells)
            yield from ((repeat, cell) for cell in cells)


def full(clients: Sequence[int], repeats: int, scale: float = 1.0) -> Plan:
    """Every kind with each number of clients, and with some that take their time."""
    crowds = [(number, 0.0) for number in clients] + [(JUDGED_CLIENTS, PACE_SECONDS)]
    cells = [Cell(k, n, _seconds(n, pace) * scale, pace) for k in Kind for n, pace in crowds]
    return Plan(cells, repeats)


def quick() -> Plan:
    """Once, shortly, with few clients and those that are judged: to see that all of it works."""
    return full((CLIENTS[0], JUDGED_CLIENTS), repeats=1, scale=0.5)


def arm(client: int, turn: int) -> Arm:
    """A B B A for one client, B A A B for the next."""
    is_first = (turn % 4 in {0, 3}) == (client % 2 == 0)
    return Arm.WITH if is_first else Arm.WITHOUT


def crowd(clients: int, pace: float) -> str:
    """How many clients, and how many requests a second, if they take their time."""
    return f"{clients} clients" + (f", {clients / pace:g} requests/s" if pace else "")


def _seconds(clients: int, pace: float) -> float:
    if pace:
        return PACED_SECONDS
    return JUDGED_SECONDS if clients == JUDGED_CLIENTS else SECONDS
