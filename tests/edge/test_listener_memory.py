"""Many large bodies at once: the memory of the process stays near what bodies may take."""

import asyncio
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.edge.clients import Wire, post
from tests.edge.small_server import LIMIT
from webhook.http.body import MAX_BYTES
from webhook.http.intake import MEBIBYTE

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).resolve().parents[2]
CLIENTS = 30


@dataclass(frozen=True)
class Server:
    """A process, and its port."""

    pid: int
    port: int

    @property
    def peak(self) -> int:
        """The most bytes that it ever had in memory."""
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        (line,) = [line for line in lines if line.startswith("VmHWM:")]
        return int(line.split()[1]) * 1024


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    """A listener in a process of its own."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.edge.small_server"),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert process.stdout is not None
    yield Server(process.pid, int(await process.stdout.readline()))
    process.kill()
    await process.communicate()


async def test_large_bodies_that_never_end_take_a_bounded_memory(server: Server) -> None:
    """Thirty clients with 7 MiB each, less one byte: some wait for it, the rest is refused."""
    content = post(b" " * (MAX_BYTES - 1), length=MAX_BYTES)
    wires = [await Wire.open(server.port) for _ in range(CLIENTS)]
    before = server.peak
    await asyncio.gather(*(wire.send(content) for wire in wires))
    answers = [asyncio.create_task(wire.answer()) for wire in wires]
    refused = CLIENTS - LIMIT // MAX_BYTES
    async with asyncio.timeout(60):
        while sum(task.done() for task in answers) < refused:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    statuses = [task.result().status for task in answers if task.done()]
    for task in answers:
        task.cancel()
    await asyncio.gather(*answers, return_exceptions=True)
    for wire in wires:
        await wire.close()
    assert set(statuses) == {503}
    assert server.peak - before < LIMIT + 32 * MEBIBYTE, "all bodies together are 210 MiB"
