"""A pseudo-terminal with a program on it: what it wrote, and what a person would see."""

import fcntl
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

ROWS: Final = 40
COLUMNS: Final = 160
HIDE_CURSOR: Final = "\x1b[?25l"
SHOW_CURSOR: Final = "\x1b[?25h"
TAKE_TERMINAL: Final = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execvp(sys.argv[1], sys.argv[1:])
"""
"""Makes the terminal the session's own, so that Ctrl-C reaches it, and becomes the program."""


class Terminal:
    """A program that runs on a pseudo-terminal of its own; everything it writes is kept."""

    def __init__(self, process: subprocess.Popen[bytes], master: int) -> None:
        self._process = process
        self._master = master
        self._written = bytearray()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    @property
    def written(self) -> str:
        """Everything so far, control characters included."""
        return bytes(self._written).decode(errors="replace")

    def interrupt(self) -> None:
        """Ctrl-C: the terminal makes a SIGINT of it."""
        os.write(self._master, b"\x03")

    def ended(self, within: float = 60) -> int:
        """The exit code, once all that was written has been read."""
        code = self._process.wait(within)
        self._reader.join(within)
        return code

    def close(self) -> None:
        """End the program if it still runs."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGKILL)
        self.ended()
        os.close(self._master)

    def _read(self) -> None:
        while True:
            try:
                block = os.read(self._master, 65536)
            except OSError:  # Linux says so when the last one on the terminal has gone.
                return
            if not block:
                return
            self._written += block


@contextmanager
def on_terminal(
    command: Sequence[str], environment: Mapping[str, str] | None = None
) -> Iterator[Terminal]:
    """The program on a terminal of 40 lines and 160 columns, which is its controlling one."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    hidden = {"NO_COLOR", "COLUMNS", "LINES", "FORCE_COLOR", "TTY_COMPATIBLE"}
    inherited = {key: value for key, value in os.environ.items() if key not in hidden}
    process = subprocess.Popen(
        [sys.executable, "-c", TAKE_TERMINAL, *command],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env=inherited | {"TERM": "xterm-256color"} | dict(environment or {}),
        start_new_session=True,
    )
    os.close(slave)
    terminal = Terminal(process, master)
    try:
        yield terminal
    finally:
        terminal.close()
