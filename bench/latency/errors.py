"""Everything that a measurement of latency raises on purpose."""

from bench.errors import Unmeasured


class WrongAnswer(Unmeasured):
    """A server failed a review or answered another one."""
