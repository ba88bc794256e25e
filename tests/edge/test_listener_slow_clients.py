"""Clients that are slow, silent or too talkative: each wait has a bound, and no bound is too short.

A second stands for the ten that a handshake, headers and a body may take, and less for the 120
of an idle connection where a test says so.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from tests.edge.clients import REVIEW, Wire, post
from tests.edge.servers import UVLOOP, contexts, serving
from webhook.http.app import admission_app
from webhook.http.body import MAX_BYTES
from webhook.http.connection import MAX_HEADER_BYTES
from webhook.http.intake import Intake, Limits
from webhook.http.listener import Listener

pytestmark = pytest.mark.anyio

PATIENCE = 1.0


@pytest.fixture
def anyio_backend() -> tuple[str, dict[str, bool]]:
    """The loop of the real server."""
    return UVLOOP


async def _allowed(request: Any) -> Any:
    raise AssertionError("no review of this module is complete")


@pytest.fixture
async def listener(reports: Any, app: Any) -> AsyncIterator[Listener]:
    """The application, with little patience."""
    intake = Intake(Limits(reviews=1, body_seconds=PATIENCE))
    impatient = admission_app(_allowed, _allowed, reports, intake)
    async with serving(impatient, patience=PATIENCE) as listener:
        yield listener


async def _trickle(wire: Wire, content: bytes) -> None:
    """A byte each 50 ms, so that silence alone is no criterion."""
    for byte in content:
        try:
            await wire.send(bytes([byte]))
        except OSError:
            return
        await asyncio.sleep(0.05)


TRICKLES: dict[str, bytes] = {
    "a request line": b"POST /" + b"a" * 200,
    "headers": REVIEW[:30] + b"x-header: " + b"a" * 200,
    "empty lines before a request": b"\r\n" * 100,
}


@pytest.mark.parametrize("content", TRICKLES.values(), ids=TRICKLES.keys())
async def test_headers_must_arrive_in_time(listener: Listener, content: bytes) -> None:
    """However steadily bytes come: headers that are not complete in time are answered with 408."""
    wire = await Wire.open(listener.port)
    sending = asyncio.create_task(_trickle(wire, content))
    async with asyncio.timeout(PATIENCE + 2):
        answer = await wire.answer()
    assert (answer.status, answer.is_last) == (408, True)
    await sending
    await wire.close()


async def test_a_body_must_arrive_in_time(listener: Listener, reports: Any) -> None:
    """A trickling body is answered with 408 and a plain sentence, reported, and cut."""
    wire = await Wire.open(listener.port)
    sending = asyncio.create_task(_trickle(wire, post(b" " * 60, length=5000)[-60:]))
    await wire.send(post(b"", length=5000))
    async with asyncio.timeout(PATIENCE + 2):
        answer = await wire.answer()
    assert (answer.status, answer.is_last) == (408, True)
    assert answer.body == b"The body did not arrive within 1 s.\n"
    assert [error.code for error in reports.refusals] == [408]
    await sending
    await wire.close()


EARLY: dict[str, tuple[bytes, int]] = {
    "too large": (post(b"", length=MAX_BYTES + 1), 413),
    "for nobody": (post(b"", length=5000, path="/nobody"), 404),
}


@pytest.mark.parametrize(("request_", "status"), EARLY.values(), ids=EARLY.keys())
async def test_a_body_that_is_not_read_must_arrive_in_time_too(
    listener: Listener, request_: bytes, status: int
) -> None:
    """An early answer does not let a client go on trickling for ever."""
    wire = await Wire.open(listener.port)
    assert (await wire.ask(request_)).status == status
    sending = asyncio.create_task(_trickle(wire, b" " * 80))
    with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
        async with asyncio.timeout(PATIENCE + 3):
            await wire.reader.readexactly(1)
    await sending
    await wire.close()


async def test_headers_have_a_size(listener: Listener) -> None:
    """More than 64 KiB of headers are answered with 431."""
    wire = await Wire.open(listener.port)
    answer = await wire.ask(REVIEW[:30] + b"x-header: " + b"a" * (MAX_HEADER_BYTES + 1))
    assert (answer.status, answer.is_last) == (431, True)
    await wire.close()


async def test_a_connection_without_a_request_is_left_alone(app: Any) -> None:
    """Go dials ahead of need: such a connection, and one between requests, waits much longer."""
    async with serving(app, patience=0.2) as listener:
        wire = await Wire.open(listener.port)
        for _ in range(2):
            await asyncio.sleep(0.8)
            assert (await wire.ask()).status == 200
        await wire.close()


async def test_a_connection_without_a_request_has_an_end(app: Any) -> None:
    """It is closed after the keep-alive time, as one between two requests is."""
    async with serving(app) as listener:
        listener.config.timeout_keep_alive = 1
        fresh, used = await Wire.open(listener.port), await Wire.open(listener.port)
        await used.ask()
        for wire in (fresh, used):
            assert await wire.ended(within=3)
            await wire.close()
        assert listener.open_connections == 0


def _half_hellos() -> Iterator[tuple[str, bytes]]:
    yield "nothing", b""
    yield "half a hello", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"a" * 40


@pytest.mark.parametrize("hello", dict(_half_hellos()).values(), ids=dict(_half_hellos()).keys())
async def test_a_tls_handshake_must_end_in_time(app: Any, hello: bytes) -> None:
    """A stalled or trickling handshake is cut; it never becomes a connection of the application."""
    server, _ = contexts()
    async with serving(app, tls=server, patience=PATIENCE) as listener:
        wire = await Wire.open(listener.port)
        sending = asyncio.create_task(_trickle(wire, hello))
        assert await wire.ended(within=PATIENCE + 2)
        assert listener.open_connections == 0
        await sending
        await wire.close()


async def test_slow_clients_over_tls_are_told_the_same(reports: Any) -> None:
    """Behind TLS the bounds are those of plain connections."""
    server, client = contexts()
    intake = Intake(Limits(body_seconds=PATIENCE))
    app = admission_app(_allowed, _allowed, reports, intake)
    async with serving(app, tls=server, patience=PATIENCE) as listener:
        for beginning in (REVIEW[:40], post(b"{", length=5000)):
            wire = await Wire.open(listener.port, client)
            answer = await wire.ask(beginning)
            assert (answer.status, answer.is_last) == (408, True)
            await wire.close()


async def test_connections_are_counted_from_their_first_to_their_last_byte(app: Any) -> None:
    """The count that a drain waits for: idle and busy ones, however they end."""
    async with serving(app) as listener:
        wires = [await Wire.open(listener.port) for _ in range(3)]
        await wires[0].ask()
        await wires[1].send(REVIEW[:20])
        await asyncio.sleep(0.1)
        assert listener.open_connections == 3
        assert listener.open_connections == len(listener.server_state.connections)
        wires[1].writer.transport.abort()
        await wires[0].close()
        await asyncio.sleep(0.1)
        assert listener.open_connections == 1
        await wires[2].close()
