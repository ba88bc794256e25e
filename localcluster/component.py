"""One process of the control plane, as a value.

A component says what to run, not how: starting, watching and ending is `processes.py`'s business.
It can be written to disk and read back, so that another process can start it again with the very
same arguments.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Component:
    """What to run, and how to tell that it is ready.

    `environment` is added to the little that every component gets (see `processes.py`).
    `ready` is a URL that answers 200 once the component is ready; None: running is enough.
    """

    name: str
    binary: Path
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    ready: str | None = None
    ready_within: float = 90.0

    def as_json(self) -> dict[str, Any]:
        """The value as JSON's types."""
        return asdict(self) | {"binary": str(self.binary), "environment": dict(self.environment)}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Component":
        """The inverse of as_json."""
        changes = {"binary": Path(value["binary"]), "arguments": tuple(value["arguments"])}
        return cls(**{**value, **changes})


Value = str | int | Path | bool


def flags(**values: Value) -> tuple[str, ...]:
    """`secure_port=1` as `--secure-port=1`; booleans in Go's spelling."""
    return tuple(f"--{name.replace('_', '-')}={_spelled(v)}" for name, v in values.items())


def _spelled(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
