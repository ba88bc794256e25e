"""Bookkeeping of processes, with real ones that live for a moment."""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from localcluster.component import Component, flags
from localcluster.errors import ComponentFailed
from localcluster.processes import Ledger, Process, end, kill, launch

Launch = Callable[[str], Process]

SLEEP = "import time; time.sleep(60)"
STUBBORN = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("deaf", flush=True)
time.sleep(60)
"""


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Launch]:
    """Launches Python code under a name; whatever is left is killed at the end."""
    launched: list[Process] = []

    def launch_code(code: str) -> Process:
        component = Component(f"p{len(launched)}", Path(sys.executable), ("-c", code))
        log = tmp_path / f"{component.name}.log"
        process = launch(component, log=log, home=tmp_path)
        launched.append(process)
        return process

    yield launch_code
    for process in launched:
        kill(process)


def gone_soon(process: Process) -> bool:
    """Does the process end within half a minute?"""
    deadline = time.monotonic() + 30
    while process.is_alive() and time.monotonic() < deadline:
        time.sleep(0.01)
    return not process.is_alive()


def said(process: Process, word: str) -> bool:
    """Does the process's log contain the word within half a minute?"""
    deadline = time.monotonic() + 30
    while word not in process.log.read_text() and time.monotonic() < deadline:
        time.sleep(0.01)
    return word in process.log.read_text()


def test_a_launched_process_is_alive_until_it_is_killed(run: Launch) -> None:
    """A process is alive while it runs and dead after SIGKILL, zombie or not."""
    process = run(SLEEP)
    assert process.is_alive()
    kill(process)
    assert not process.is_alive()


def test_a_process_that_ended_by_itself_is_dead(run: Launch) -> None:
    """Our own child that ended is reaped and not taken for alive."""
    assert gone_soon(run("pass"))


def test_another_process_with_the_same_id_is_not_ours(run: Launch) -> None:
    """With another start time, the id was recycled: it is neither alive nor ever signalled."""
    process = run(SLEEP)
    recycled = replace(process, started=process.started - 1)
    assert not recycled.is_alive()
    end([recycled], grace=0.1)
    kill(recycled)
    assert process.is_alive()


def test_end_is_polite(run: Launch) -> None:
    """A process that listens to SIGTERM may tidy up."""
    process = run(
        "import signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(print('tidy')))\n"
        "print('listening', flush=True)\n"
        "time.sleep(60)\n"
    )
    assert said(process, "listening")
    end([process])
    assert said(process, "tidy")


def test_end_kills_what_does_not_listen(run: Launch) -> None:
    """A process that ignores SIGTERM is killed after the grace period."""
    process = run(STUBBORN)
    assert said(process, "deaf")
    end([process], grace=0.1)
    assert not process.is_alive()


def test_children_end_with_their_process(run: Launch) -> None:
    """Workers live in the session of their process, and are killed with it."""
    process = run(
        "import subprocess, sys\n"
        f"child = subprocess.Popen([sys.executable, '-c', {SLEEP!r}])\n"
        "print(child.pid, 'is the child', flush=True)\n"
        "child.wait()\n"
    )
    assert said(process, "is the child")
    child = int(process.log.read_text().split()[0])
    kill(process)
    deadline = time.monotonic() + 5
    while not is_over(child):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def is_over(pid: int) -> bool:
    """Is there no such process, or only its zombie?"""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True
    return stat.rpartition(")")[2].split()[0] == "Z"


def test_a_component_has_a_session_of_its_own(run: Launch) -> None:
    """Ctrl-C in the terminal does not reach a component."""
    process = run(SLEEP)
    assert os.getsid(process.pid) == process.pid != os.getsid(0)


def test_a_component_does_not_inherit_held_signals(run: Launch) -> None:
    """A process that is launched while signals are held back listens to them nevertheless."""
    held = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    try:
        process = run(SLEEP)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, held)
    os.kill(process.pid, signal.SIGTERM)
    assert gone_soon(process)


def test_the_ledger_gives_back_what_was_recorded(run: Launch, tmp_path: Path) -> None:
    """Another program reads the very same processes, in the order of their start."""
    recorded = [run(SLEEP), run(SLEEP)]
    ledger = Ledger(tmp_path / "processes.json")
    for process in recorded:
        ledger.record(process)
    assert Ledger(tmp_path / "processes.json").processes() == recorded


def test_a_restarted_component_keeps_its_place(run: Launch, tmp_path: Path) -> None:
    """The newer process of the same name takes the older one's place."""
    first, second = run(SLEEP), run(SLEEP)
    again = replace(first, pid=second.pid, started=second.started)
    ledger = Ledger(tmp_path / "processes.json")
    for process in (first, second, again):
        ledger.record(process)
    assert ledger.processes() == [again, second]


def test_whoever_records_at_the_same_time_loses_nothing(run: Launch, tmp_path: Path) -> None:
    """Test runners start replicas side by side: what is not in the ledger is never ended."""
    one = run(SLEEP)
    named = [
        replace(one, component=replace(one.component, name=f"replica-{number}"))
        for number in range(50)
    ]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(Ledger(tmp_path / "processes.json").record, named))
    recorded = Ledger(tmp_path / "processes.json").processes()
    assert {process.name for process in recorded} == {process.name for process in named}


def test_a_missing_ledger_is_empty(tmp_path: Path) -> None:
    """Where nothing was started, there is nothing to end."""
    ledger = Ledger(tmp_path / "none" / "processes.json")
    ledger.clear()
    assert ledger.processes() == []


def test_a_failure_shows_the_end_of_the_log(tmp_path: Path) -> None:
    """The error names the component and carries the last lines of its log."""
    log = tmp_path / "x.log"
    log.write_text("\n".join(f"line {number}" for number in range(100)))
    message = str(ComponentFailed("kueue", "died", log))
    assert message.startswith("kueue died")
    assert "line 99" in message
    assert "line 7\n" not in message


def test_flags_are_spelled_as_go_wants_them() -> None:
    """Underscores become hyphens and booleans lower case."""
    spelled = flags(secure_port=1, leader_elect=False, data_dir=Path("/x"))
    assert spelled == ("--secure-port=1", "--leader-elect=false", "--data-dir=/x")
