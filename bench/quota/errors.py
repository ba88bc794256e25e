"""Everything that a measurement of the quota raises on purpose."""

from bench.errors import BenchError


class RecorderLost(BenchError):
    """The recorder itself broke: nobody knows what the GPUs did."""
