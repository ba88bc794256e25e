"""`kueue-steps serve` as a process of its own, with an API server that nobody can reach."""

import json
import os
import re
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx

from webhook.pki.files import write_pair
from webhook.pki.mint import mint_authority, mint_leaf

NOWHERE = {
    "apiVersion": "v1",
    "kind": "Config",
    "clusters": [{"name": "nowhere", "cluster": {"server": "http://127.0.0.1:1"}}],
    "contexts": [{"name": "nowhere", "context": {"cluster": "nowhere", "user": ""}}],
    "current-context": "nowhere",
}
NAMES = ("kueue-steps.kueue-steps-system.svc", "localhost")


@dataclass(frozen=True)
class Program:
    """A process that serves. `tls` is a client's context that trusts it."""

    process: subprocess.Popen[bytes]
    log: Path
    tls: ssl.SSLContext

    @property
    def lines(self) -> list[str]:
        """The whole lines of its log so far."""
        return self.log.read_text().rpartition("\n")[0].splitlines()

    def entries(self, event: str) -> list[dict[str, Any]]:
        """The log's entries of one event; an error where a line is no JSON."""
        return [entry for line in self.lines if (entry := json.loads(line))["event"] == event]

    def url(self, path: str) -> str:
        """Where reviews are posted."""
        return f"https://localhost:{self._ports['port']}{path}"

    def client(self, **options: Any) -> httpx.Client:
        """A client of it, in no hurry."""
        return httpx.Client(verify=self.tls, timeout=60, **options)

    def metrics(self) -> str:
        """Its metrics."""
        return httpx.get(f"http://127.0.0.1:{self._ports['operations_port']}/metrics").text

    def memory(self, key: str) -> int:
        """Bytes of memory: VmRSS is what it holds now, VmHWM the most that it ever held."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        (size,) = re.findall(rf"{key}:\s+(\d+) kB", status)
        return int(size) * 1024

    @property
    def _ports(self) -> dict[str, Any]:
        return self.entries("serving")[0]


@contextmanager
def serving_program(
    folder: Path,
    settings: Mapping[str, str] | None = None,
    *,
    variables: Mapping[str, str] | None = None,
) -> Iterator[Program]:
    """Runs while the block does, with more environment variables; in `settings`: ours.

    These are without their prefix KUEUE_STEPS_.
    """
    now = datetime.now(UTC)
    authority = mint_authority("tests", now=now)
    leaf = mint_leaf(authority, dns_names=NAMES, now=now)
    write_pair(leaf, folder / "tls.crt", folder / "tls.key")
    (folder / "kubeconfig").write_text(json.dumps(NOWHERE))
    keys = {
        "SERVER__HOST": "127.0.0.1",
        "SERVER__PORT": "0",
        "SERVER__OPERATIONS_PORT": "0",
        "CERTIFICATES__SOURCE": "files",
        "CERTIFICATES__CERTIFICATE_FILE": str(folder / "tls.crt"),
        "CERTIFICATES__KEY_FILE": str(folder / "tls.key"),
        **(settings or {}),
    }
    ours = {f"KUEUE_STEPS_{key}": value for key, value in keys.items()}
    environment = {**os.environ, **(variables or {}), **ours}
    command = [sys.executable, "-m", "webhook", "serve", "--kubeconfig", str(folder / "kubeconfig")]
    log = folder / "log"
    with log.open("wb") as errors:
        process = subprocess.Popen(command, stderr=errors, env=environment)
    tls = ssl.create_default_context(cadata=authority.certificate.decode())
    program = Program(process, log, tls)
    try:
        _await_serving(program)
        yield program
    finally:
        process.kill()
        process.wait()


def _await_serving(program: Program) -> None:
    end = time.monotonic() + 60
    while not program.entries("serving"):
        if program.process.poll() is not None or time.monotonic() > end:
            raise AssertionError(f"it does not serve:\n{program.log.read_text()}")
        time.sleep(0.1)
