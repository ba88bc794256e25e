"""Records as files: JSON that is read strictly, or refused."""

from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from bench.errors import RecordRefused

RecordT = TypeVar("RecordT", bound=msgspec.Struct)


class Records(Generic[RecordT]):
    """Files of one type of record; each object in it that begins with one of `first` has a line."""

    def __init__(self, record: type[RecordT], *first: str) -> None:
        self._record = record
        self._openings = [f'{{"{field}":'.encode() for field in first]

    def read(self, path: Path) -> RecordT:
        """Read one back. Raises RecordRefused."""
        try:
            return msgspec.json.decode(path.read_bytes(), type=self._record)
        except (OSError, msgspec.DecodeError) as error:
            raise RecordRefused(path, str(error)) from error

    def write(self, record: RecordT, path: Path) -> None:
        """Write one as JSON."""
        text = msgspec.json.encode(record)
        for opening in self._openings:
            text = text.replace(opening, b"\n" + opening)
        path.write_bytes(text + b"\n")
