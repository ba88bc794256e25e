"""The processes of one control plane, by name."""

from dataclasses import dataclass
from pathlib import Path

from localcluster import processes
from localcluster.claim import ledger
from localcluster.component import Component
from localcluster.errors import ComponentState
from localcluster.layout import Layout
from localcluster.processes import Process
from localcluster.readiness import Readiness


@dataclass(frozen=True)
class Status:
    """What `status` shows of a process; `state` is ready, starting or dead."""

    name: str
    pid: int
    state: str
    url: str
    log: Path


class Fleet:
    """Starts, ends and finds the processes; everything that it starts goes into the ledger."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._ledger = ledger(layout.root)

    def begin(self, component: Component) -> Process:
        """Start without waiting; ComponentState if it is running."""
        old = self._known().get(component.name)
        if old and old.is_alive():
            raise ComponentState(f"{component.name} is running already (pid {old.pid})")
        log = self._layout.folder("logs") / f"{component.name}.log"
        with processes.uninterrupted():
            process = processes.launch(component, log=log, home=self._layout.folder("tmp"))
            self._ledger.record(process)
        return process

    def spawn(self, component: Component) -> Process:
        """Start and wait until ready; ended again if it does not get ready."""
        process = self.begin(component)
        try:
            self.wait(process)
        except BaseException:
            processes.kill(process)
            raise
        return process

    def wait(self, *started: Process) -> None:
        """Return when all are ready; ComponentFailed if one dies or takes too long."""
        readiness = Readiness(self._layout.authority)
        for process in started:
            readiness.wait(process)

    def start(self, name: str) -> Process:
        """Start a component that was ended, with the same arguments, and wait until ready."""
        return self.spawn(self._named(name).component)

    def stop(self, name: str) -> None:
        """End a component as `down` would; nothing happens if it is dead."""
        processes.end([self._named(name)])

    def kill(self, name: str) -> None:
        """End a component with SIGKILL."""
        processes.kill(self._named(name))

    def status(self) -> list[Status]:
        """All processes in the order in which they were started."""
        known = self._ledger.processes()
        readiness = Readiness(self._layout.authority) if known else None
        return [_status(process, readiness) for process in known]

    def _named(self, name: str) -> Process:
        known = self._known()
        if name not in known:
            raise ComponentState(f"no component {name!r}: there are {', '.join(known) or 'none'}")
        return known[name]

    def _known(self) -> dict[str, Process]:
        return {process.name: process for process in self._ledger.processes()}


def _status(process: Process, readiness: Readiness | None) -> Status:
    url = process.component.ready
    if not process.is_alive():
        state = "dead"
    elif url is None or (readiness and readiness.is_ready(url)):
        state = "ready"
    else:
        state = "starting"
    return Status(process.name, process.pid, state, url or "", process.log)
