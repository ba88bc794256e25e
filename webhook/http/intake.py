"""What one replica takes on at the same time: reviews being decided, and bytes of their bodies.

A review that would be too much is refused at once, with 503 and Retry-After. API servers wait
that long and ask again, within the time-out of the registration (client-go 0.36,
rest/with_retry.go), so that a short rush costs a second and no create.
"""

from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self

MEBIBYTE: Final = 1024 * 1024


@dataclass(frozen=True)
class Limits:
    """How much is taken on at a time.

    `reviews` may wait for the cluster together: three API servers with the 200 mutating requests
    that each has in flight at most, all sent to one replica. `body_bytes` is the memory of all
    bodies that have arrived; `body_seconds` is the time that one of them may take to do so.
    """

    reviews: int = 600
    body_bytes: int = 64 * MEBIBYTE
    body_seconds: float = 10.0


class Overloaded(Exception):
    """This replica has no room for a review now."""


class Intake:
    """The counts of one process: `in_flight` calls, `deciding` of them, `held` bytes of bodies."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.in_flight = 0
        self.deciding = 0
        self.held = 0

    def call(self) -> "Call":
        """Room for one call; what it takes is given back where its block ends."""
        return Call(self)


class Call:
    """One call's share."""

    __slots__ = ("_decides", "_held", "_intake")

    def __init__(self, intake: Intake) -> None:
        self._intake = intake
        self._held = 0
        self._decides = False

    def __enter__(self) -> Self:
        self._intake.in_flight += 1
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._intake.in_flight -= 1
        self._intake.held -= self._held
        self._intake.deciding -= self._decides

    def hold(self, size: int) -> None:
        """Keeps so many more bytes of the body. Raises Overloaded."""
        limit = self._intake.limits.body_bytes
        if self._intake.held + size > limit:
            raise Overloaded(f"The bodies of all reviews together are larger than {limit} bytes.")
        self._intake.held += size
        self._held += size

    def decide(self) -> None:
        """Takes one of the places for reviews whose body is complete. Raises Overloaded."""
        limit = self._intake.limits.reviews
        if self._intake.deciding >= limit:
            raise Overloaded(f"{limit} reviews are being decided already.")
        self._intake.deciding += 1
        self._decides = True
