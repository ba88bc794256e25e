"""Everything that this package raises on purpose, as one tree."""

from pathlib import Path


class BenchError(Exception):
    """Anything that can go wrong with a measurement or its picture."""


class RecordRefused(BenchError):
    """The file is no record, lacks a field, or contradicts itself."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"{path}: {why}; measure it anew")


class Unmeasured(BenchError):
    """The run cannot go on, or what it would say would not be true."""
