"""Everything that this package raises on purpose, as one tree.

Each message says what happened and what the reader can do about it; nothing else is caught.
"""

from collections.abc import Sequence
from pathlib import Path


class LocalClusterError(Exception):
    """Anything that can go wrong with the local control plane."""


class ToolchainMissing(LocalClusterError):
    """No Go toolchain that is new enough could be found or installed."""


class BuildFailed(LocalClusterError):
    """Go refused to list, download or build."""


class StateRefused(LocalClusterError):
    """The state folder is in use, is somebody else's, or holds no control plane."""


class ComponentFailed(LocalClusterError):
    """A process died or did not get ready."""

    def __init__(self, name: str, what: str, log: Path) -> None:
        self.name = name
        super().__init__(f"{name} {what}; the end of {log}:\n{tail(log)}")


class ComponentState(LocalClusterError):
    """A component is unknown, already running, or not running."""


class KubectlError(LocalClusterError):
    """kubectl exited non-zero; `stderr` is what it said."""

    def __init__(self, arguments: Sequence[str], stderr: str) -> None:
        self.arguments = tuple(arguments)
        self.stderr = stderr
        super().__init__(f"kubectl {' '.join(arguments)}: {stderr.strip()}")


def tail(log: Path, lines: int = 20) -> str:
    """The last lines of a log file, indented; empty if there is no such file."""
    try:
        text = log.read_text(errors="replace")
    except FileNotFoundError:
        return ""
    return "\n".join(f"  {line}" for line in text.splitlines()[-lines:])
