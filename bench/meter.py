"""What the kernel knows of a process: the CPU it took, the memory it holds, where it may run."""

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple

from bench.errors import Unmeasured

TICK: Final = 1 / os.sysconf("SC_CLK_TCK")
MEBIBYTE_IN_KIB: Final = 1024
FORGET_PEAK: Final = "5"
"""proc(5), clear_refs: the peak of the resident size begins anew."""


class Memory(NamedTuple):
    """Resident MiB: now, and at most since the peak was forgotten."""

    now: float
    peak: float


class Cores(NamedTuple):
    """The CPU of the servers, that of the load generator, and those of everything else.

    `are_one` tells that the first two are threads of one physical core, in each other's way.
    """

    serving: int
    asking: int
    rest: frozenset[int]
    are_one: bool


def cores() -> Cores:
    """A share of the CPUs that this process may use. Raises Unmeasured if there is only one."""
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) == 1:
        raise Unmeasured("two CPUs are needed: one for the server, one for all else")
    serving = allowed[-1]
    siblings = _siblings(serving)
    asking = next((cpu for cpu in allowed[:-1] if cpu not in siblings), allowed[0])
    rest = set(allowed) - siblings - {serving, asking}
    return Cores(serving, asking, frozenset(rest or {asking}), asking in siblings)


def pin(pid: int, cpus: Collection[int]) -> None:
    """Let the process run on these only, with all its threads and those that they start."""
    done: set[int] = set()
    while left := set(_threads(pid)) - done:
        for thread in left:
            with suppress(ProcessLookupError):
                os.sched_setaffinity(thread, cpus)
        done |= left


@contextmanager
def pinned_here(cpus: Collection[int]) -> Iterator[None]:
    """This process, and what it starts, runs on these only while the block lasts."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cpus)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def cpu_seconds(pid: int) -> float:
    """User and system time of the process, in steps of a clock tick."""
    # proc(5): the second field is the name in brackets, which may hold anything.
    fields = Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * TICK


def forget_peak(pid: int) -> None:
    """Let the peak of the memory begin anew."""
    Path("/proc", str(pid), "clear_refs").write_text(FORGET_PEAK)


def memory(pid: int) -> Memory:
    """What the process holds."""
    lines = Path("/proc", str(pid), "status").read_text().splitlines()
    said = dict(line.partition(":")[::2] for line in lines)
    # As in `VmRSS:     1234 kB`.
    now, peak = (int(said[name].split()[0]) / MEBIBYTE_IN_KIB for name in ("VmRSS", "VmHWM"))
    return Memory(round(now, 1), round(peak, 1))


def _threads(pid: int) -> list[int]:
    try:
        return [int(entry.name) for entry in Path("/proc", str(pid), "task").iterdir()]
    except (FileNotFoundError, ProcessLookupError):
        return []


def _siblings(cpu: int) -> set[int]:
    """The CPUs that are threads of the same physical core, itself among them."""
    path = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
    try:
        text = path.read_text()
    except FileNotFoundError:
        return {cpu}
    spans = (part.partition("-") for part in text.strip().split(","))
    return {n for low, _, high in spans for n in range(int(low), int(high or low) + 1)}
