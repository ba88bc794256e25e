"""A replica goes: no client ever finds a connection closed that it was going to use."""

import asyncio
import signal
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.edge.clients import REVIEW, Pool, Wire, post
from tests.edge.servers import UVLOOP, contexts, serving
from webhook import settings
from webhook.http.drain import Signals, drain
from webhook.http.listener import Listener
from webhook.http.times import Times

pytestmark = pytest.mark.anyio

IDLE = 1.5
"""Seconds for which this module's clients keep idle connections; API servers do for 90."""


@pytest.fixture
def anyio_backend() -> tuple[str, dict[str, bool]]:
    """The loop of the real server."""
    return UVLOOP


def terminated(number: signal.Signals = signal.SIGTERM) -> Signals:
    """The state after one signal."""
    signals = Signals()
    signals.note(number)
    return signals


async def taken(work: Awaitable[int]) -> tuple[int, float]:
    """What a drain returns, and how many seconds it took."""
    loop = asyncio.get_running_loop()
    begun = loop.time()
    return await work, loop.time() - begun


@dataclass
class Crowd:
    """Sixteen clients of one pool that stay at work; `failures` are what a create would die of."""

    pool: Pool
    statuses: list[int] = field(default_factory=list)
    failures: list[Exception] = field(default_factory=list)

    async def work(self) -> None:
        """Eight requests of each client, spread over some 0.4 s."""
        await asyncio.gather(*(self._client(number) for number in range(16)))

    async def _client(self, number: int) -> None:
        for turn in range(8):
            await asyncio.sleep(0.01 * number + 0.02 * turn)
            try:
                self.statuses.append((await self.pool.ask()).status)
            except (OSError, EOFError) as error:
                self.failures.append(error)


TLS: dict[str, Callable[[], tuple[ssl.SSLContext | None, ssl.SSLContext | None]]] = {
    "plain": lambda: (None, None),
    "TLS": contexts,
}


@pytest.mark.parametrize("how", TLS)
async def test_a_pool_under_load_never_meets_a_closed_connection(app: Any, how: str) -> None:
    """Clients with a pool come through a drain: each request is answered, none is sent twice."""
    server, client = TLS[how]()
    async with serving(app, tls=server) as listener:
        crowd = Crowd(Pool(listener.port, idle=IDLE, tls=client))
        await asyncio.gather(*(crowd.pool.ask() for _ in range(16)))
        assert crowd.pool.idle == 16
        going = asyncio.create_task(drain(listener, terminated(), Times(quiet=2, longest=30)))
        await crowd.work()
        assert await going == 0
        await crowd.pool.close()
    assert crowd.failures == []
    assert crowd.statuses == [200] * 16 * 8


async def test_without_a_drain_the_same_clients_fail(app: Any) -> None:
    """The race is real: a listener that is just stopped cuts connections under requests."""
    async with serving(app) as listener:
        crowd = Crowd(Pool(listener.port, idle=IDLE))
        await asyncio.gather(*(crowd.pool.ask() for _ in range(16)))
        working = asyncio.create_task(crowd.work())
        listener.stop()
        await working
        await crowd.pool.close()
    assert crowd.failures


async def test_idle_connections_are_left_to_their_clients(app: Any) -> None:
    """A replica stays until clients have closed what is idle, though nothing is asked any more."""
    async with serving(app) as listener:
        pool = Pool(listener.port, idle=IDLE)
        await asyncio.gather(*(pool.ask() for _ in range(4)))
        cut, seconds = await taken(drain(listener, terminated(), Times(quiet=0.2, longest=30)))
        assert cut == 0
        assert IDLE - 0.5 < seconds < 15
        await pool.close()


async def test_from_sigterm_on_each_answer_is_the_last_on_its_connection(app: Any) -> None:
    """Good answers, refusals and what the router answers say `close`, and then it is closed."""
    async with serving(app) as listener:
        requests = {REVIEW: 200, post(b"[]"): 400, post(b"{}", path="/none"): 404}
        wires = [await Wire.open(listener.port) for _ in requests]
        before = [await wire.ask() for wire in wires]
        going = asyncio.create_task(drain(listener, terminated(), Times(quiet=0, longest=30)))
        await asyncio.sleep(0)
        for wire, (request, status) in zip(wires, requests.items(), strict=True):
            answer = await wire.ask(request)
            assert (answer.status, answer.is_last) == (status, True)
            assert await wire.ended()
            await wire.close()
        assert await going == 0
    assert not any(answer.is_last for answer in before)


async def test_a_review_that_was_being_decided_is_answered_as_the_last(app: Any) -> None:
    """What counts is the time of the answer: a review in flight at SIGTERM says `close` too."""
    async with serving(app) as listener:
        wire = await Wire.open(listener.port)
        await wire.send(REVIEW[:-5])
        await asyncio.sleep(0.05)
        going = asyncio.create_task(drain(listener, terminated(), Times(quiet=0, longest=30)))
        await asyncio.sleep(0.3)
        assert not going.done()
        answer = await wire.ask(REVIEW[-5:])
        assert (answer.status, answer.is_last) == (200, True)
        await wire.close()
        assert await going == 0


async def test_new_connections_are_served_and_prolong_the_quiet_time(app: Any) -> None:
    """While new ones come the endpoints are not known everywhere yet, so the listener stays."""
    async with serving(app) as listener:
        going = asyncio.create_task(drain(listener, terminated(), Times(quiet=2, longest=30)))
        for _ in range(5):
            await asyncio.sleep(0.5)
            pool = Pool(listener.port, idle=IDLE)
            assert (await pool.ask()).is_last
            assert not going.done()
        _, seconds = await taken(going)
        assert seconds > 1


async def test_a_replica_that_nobody_uses_goes_after_the_quiet_time(app: Any) -> None:
    """Without connections nothing is waited for but the quiet time."""
    async with serving(app) as listener:
        cut, seconds = await taken(drain(listener, terminated(), Times(quiet=0.5, longest=30)))
    assert cut == 0
    assert 0.5 <= seconds < 10


async def test_ctrl_c_without_connections_ends_at_once(app: Any) -> None:
    """At a terminal there are no endpoints to wait for."""
    async with serving(app) as listener:
        work = drain(listener, terminated(signal.SIGINT), Times(quiet=5, longest=30))
        _, seconds = await taken(work)
    assert seconds < 4


async def test_a_drain_has_an_end(app: Any) -> None:
    """A client that keeps its connection is cut after the longest time, and counted."""
    async with serving(app) as listener:
        wire = await Wire.open(listener.port)
        await wire.ask()
        cut, seconds = await taken(drain(listener, terminated(), Times(quiet=0.1, longest=0.6)))
        assert cut == 1
        assert 0.6 <= seconds < 10
        assert await wire.ended()
        await wire.close()


async def test_a_second_signal_ends_everything_at_once(app: Any) -> None:
    """Idle connections and half a review are cut without a wait."""
    signals = terminated()
    listener = Listener(app, "127.0.0.1", 0)
    served = asyncio.create_task(listener.run_until_stopped())
    idle, busy = await Wire.open(listener.port), await Wire.open(listener.port)
    await idle.ask()
    await busy.send(REVIEW[:-5])
    going = asyncio.create_task(drain(listener, signals, Times(quiet=5, longest=30)))
    await asyncio.sleep(0.2)
    assert not going.done()
    signals.note(signal.SIGTERM)
    async with asyncio.timeout(8):
        assert await going == 2
        await served
    for wire in (idle, busy):
        await wire.close()


async def test_after_a_drain_nobody_can_connect(app: Any) -> None:
    """The listening socket is closed with it."""
    async with serving(app) as listener:
        await drain(listener, terminated(), Times(quiet=0, longest=30))
    with pytest.raises(ConnectionRefusedError):
        await Wire.open(listener.port)


def test_the_shipped_times_outlast_idle_connections_of_api_servers() -> None:
    """One that was opened in the quiet time is idle for 90 s from then on."""
    times = settings.load(None).server.drain.times
    assert times == Times()
    assert times.longest >= times.quiet + 90


def test_a_quiet_time_beyond_the_longest_is_refused(tmp_path: Path) -> None:
    """The two times are checked together, and both are named."""
    path = tmp_path / "configuration.yaml"
    head = f"apiVersion: {settings.API_VERSION}\nkind: Configuration\n"
    path.write_text(f"{head}server: {{drain: {{quietSeconds: 9, longestSeconds: 8}}}}\n")
    with pytest.raises(settings.BadConfiguration, match="quietSeconds must not be longer"):
        settings.load(path)
