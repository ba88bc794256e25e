"""Start, recognise and end operating-system processes, across runs of this program.

A process is known by its id and its start time together, both from /proc: an id alone may have been
given to somebody else's process by the time that we want to end ours.
"""

import fcntl
import json
import os
import signal
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from localcluster.component import Component
from localcluster.errors import ComponentFailed

POLL_SECONDS = 0.05
GRACE_SECONDS = 5.0
# Python ignores these two, and a child would inherit that.
_DEFAULT_SIGNALS = (signal.SIGPIPE, signal.SIGXFSZ)


@dataclass(frozen=True)
class Process:
    """A component that was started: its id, its start time in clock ticks since boot, its log."""

    component: Component
    pid: int
    started: int
    log: Path

    @property
    def name(self) -> str:
        """The component's name."""
        return self.component.name

    def is_alive(self) -> bool:
        """Is exactly this process still running? Reaps it if it was our child and is not."""
        return _running_since(self.pid) == self.started

    def as_json(self) -> dict[str, Any]:
        """The value as JSON's types."""
        return {
            "component": self.component.as_json(),
            "pid": self.pid,
            "started": self.started,
            "log": str(self.log),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Process":
        """The inverse of as_json."""
        component = Component.from_json(value["component"])
        return cls(component, value["pid"], value["started"], Path(value["log"]))


class Ledger:
    """The processes that were started, in order, in one file that is replaced as a whole."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def processes(self) -> list[Process]:
        """All of them, dead ones too, in the order of their first start."""
        try:
            return [Process.from_json(entry) for entry in json.loads(self._path.read_text())]
        except FileNotFoundError:
            return []

    def record(self, process: Process) -> None:
        """Add the process, in the place of an earlier one of the same name."""
        with self._alone():
            entries = {entry.name: entry for entry in self.processes()} | {process.name: process}
            self._write(entries.values())

    def clear(self) -> None:
        """Forget all."""
        self._path.unlink(missing_ok=True)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Nobody else records meanwhile: one of two would be lost, and its process never ended."""
        with self._path.with_suffix(".lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def _write(self, processes: Iterable[Process]) -> None:
        text = json.dumps([process.as_json() for process in processes], indent=1)
        draft = self._path.with_suffix(f".{os.getpid()}")
        draft.write_text(text)
        draft.replace(self._path)


def launch(component: Component, *, log: Path, home: Path) -> Process:
    """Start the component in a session of its own, its output appended to the log.

    posix_spawn and not subprocess: the process is to outlive this program, which a Popen object
    complains about.
    """
    command = [str(component.binary), *component.arguments]
    output = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    pid = os.posix_spawn(
        command[0],
        command,
        {**_environment(home), **component.environment},
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, str(log), output, 0o644),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ],
        setsid=True,
        setsigdef=_DEFAULT_SIGNALS,
        setsigmask=(),
    )
    started = _start_ticks(pid)
    if started is None:
        raise ComponentFailed(component.name, "died at once", log)
    return Process(component, pid, started, log)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold back Ctrl-C and SIGTERM, so that no process is started and then not recorded."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end(processes: Iterable[Process], *, grace: float = GRACE_SECONDS) -> None:
    """Ask them all to end, wait, and kill those that did not; returns when none is left."""
    left = [process for process in processes if _signal(process, signal.SIGTERM)]
    _await_gone(left, grace)
    for process in left:
        kill(process)


def kill(process: Process) -> None:
    """End the process without asking, and return when it is gone."""
    if _signal(process, signal.SIGKILL):
        _await_gone([process], GRACE_SECONDS)


def _signal(process: Process, number: signal.Signals) -> bool:
    """Send to the whole session, workers too; False if the process is no longer there."""
    if not process.is_alive():
        return False
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        return False
    return True


def _await_gone(processes: Iterable[Process], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while any(process.is_alive() for process in processes) and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)


def _running_since(pid: int) -> int | None:
    """The start time of the process with this id; None if there is none, or only its zombie."""
    with suppress(ChildProcessError):  # Another program's child, or reaped before.
        os.waitpid(pid, os.WNOHANG)
    return _start_ticks(pid, zombie=False)


def _start_ticks(pid: int, *, zombie: bool = True) -> int | None:
    try:
        stat = Path("/proc", str(pid), "stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # proc(5): the second field is the name in brackets, which may hold anything.
    state, *fields = stat.rpartition(")")[2].split()
    is_over = state in "ZX" and not _has_threads(pid)
    return None if is_over and not zombie else int(fields[18])


def _has_threads(pid: int) -> bool:
    """Whether threads outlive the zombie of their leader: they hold its ports for a while."""
    try:
        return len(list(Path("/proc", str(pid), "task").iterdir())) > 1
    except (FileNotFoundError, ProcessLookupError):
        return False


def _environment(home: Path) -> dict[str, str]:
    # The caller's environment must not change the control plane: proxies, KUBECONFIG, KWOK_*.
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(home),
        "TMPDIR": str(home),
        "LANG": "C.UTF-8",
    }
