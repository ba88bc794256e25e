"""Everything that a measurement of latency raises on purpose."""

from bench.errors import BenchError


class Unmeasured(BenchError):
    """The run cannot go on, or what it would say would not be true."""


class WrongAnswer(Unmeasured):
    """A server failed a review or answered another one."""
