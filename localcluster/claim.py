"""Take a state folder for one control plane: never a live one, never somebody else's folder."""

import fcntl
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from localcluster.errors import StateRefused
from localcluster.processes import Ledger

MARKER = "localcluster.lock"


@contextmanager
def claimed(root: Path) -> Iterator[None]:
    """Hold the folder, emptied of what an earlier control plane left; StateRefused if in use."""
    root.mkdir(parents=True, exist_ok=True, mode=0o700)
    marker = root / MARKER
    if not marker.exists() and any(root.iterdir()):
        raise StateRefused(f"{root} is not empty and not a control plane's: name another folder")
    with marker.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StateRefused(f"another `up` is at work in {root}") from None
        if any(process.is_alive() for process in ledger(root).processes()):
            raise StateRefused(f"{root} is up already: `status` shows it, `down` ends it")
        _empty(root)
        yield


def ledger(root: Path) -> Ledger:
    """The list of the processes that were started for this folder."""
    return Ledger(root / "processes.json")


def _empty(root: Path) -> None:
    for entry in root.iterdir():
        if entry.is_dir():
            shutil.rmtree(entry)
        elif entry.name != MARKER:
            entry.unlink()
