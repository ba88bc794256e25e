"""Clients that do what API servers and strangers do with connections."""

import asyncio
import json
import ssl
from dataclasses import dataclass
from typing import Any

from tests.edge.reviews import jobset, review


def post(body: bytes, *, length: int | None = None, path: str = "/mutate") -> bytes:
    """A POST with this body, or with what has come of it."""
    lines = (
        f"POST {path} HTTP/1.1",
        "host: kueue-steps",
        "content-type: application/json",
        f"content-length: {len(body) if length is None else length}",
    )
    return "\r\n".join((*lines, "", "")).encode() + body


REVIEW = post(json.dumps(review(jobset(queue="gpu"))).encode())


@dataclass
class Answer:
    """An answer's status, headers (lower case) and body."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def is_last(self) -> bool:
        """Does the server end the connection after it?"""
        return self.headers.get("connection") == "close"


@dataclass
class Wire:
    """One connection, written and read byte by byte."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    @classmethod
    async def open(cls, port: int, tls: ssl.SSLContext | None = None) -> "Wire":
        """A new connection to loopback."""
        name = "localhost" if tls else None
        return cls(*await asyncio.open_connection("127.0.0.1", port, ssl=tls, server_hostname=name))

    async def send(self, content: bytes) -> None:
        """Writes these bytes."""
        self.writer.write(content)
        await self.writer.drain()

    async def answer(self) -> Answer:
        """The next answer; IncompleteReadError where the connection ends instead."""
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode()
        first, *lines = head.rstrip().split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in lines)
        body = await self.reader.readexactly(int(headers["content-length"]))
        return Answer(int(first.split()[1]), headers, body)

    async def ask(self, content: bytes = REVIEW) -> Answer:
        """Sends a request and reads its answer."""
        await self.send(content)
        return await self.answer()

    async def ended(self, within: float = 5) -> bool:
        """Whether the server ends the connection in time, with no byte more."""
        async with asyncio.timeout(within):
            return await self.reader.read(1) == b""

    async def close(self) -> None:
        """Ends the connection."""
        self.writer.close()
        try:
            await self.writer.wait_closed()
        except (OSError, ssl.SSLError):
            return


class Pool:
    """Connections that are used again, as Go's http.Transport does it.

    The one that was idle last is taken first; an idle one is closed after `idle` seconds; one whose
    answer said `close` is not used again; a POST is never sent twice.
    """

    def __init__(self, port: int, *, idle: float, tls: ssl.SSLContext | None = None) -> None:
        self._port = port
        self._tls = tls
        self._idle_seconds = idle
        self._idle: list[tuple[Wire, asyncio.TimerHandle]] = []
        self._closing: set[asyncio.Task[None]] = set()
        self.opened = 0

    async def ask(self, content: bytes = REVIEW) -> Answer:
        """One request on an idle connection or on a new one; any error is the caller's."""
        wire = await self._take()
        try:
            answer = await wire.ask(content)
        except BaseException:
            await wire.close()
            raise
        if answer.is_last:
            await wire.close()
        else:
            self._put(wire)
        return answer

    async def close(self) -> None:
        """Closes what is idle."""
        while self._idle:
            wire, timer = self._idle.pop()
            timer.cancel()
            await wire.close()
        await asyncio.gather(*self._closing)

    @property
    def idle(self) -> int:
        """How many connections are idle."""
        return len(self._idle)

    async def _take(self) -> Wire:
        if self._idle:
            wire, timer = self._idle.pop()
            timer.cancel()
            return wire
        self.opened += 1
        return await Wire.open(self._port, self._tls)

    def _put(self, wire: Wire) -> None:
        loop = asyncio.get_running_loop()
        entry = (wire, loop.call_later(self._idle_seconds, self._expire, wire))
        self._idle.append(entry)

    def _expire(self, wire: Wire) -> None:
        self._idle = [entry for entry in self._idle if entry[0] is not wire]
        task: asyncio.Task[Any] = asyncio.get_running_loop().create_task(wire.close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)
