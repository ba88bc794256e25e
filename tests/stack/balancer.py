"""What stands between an API server and the replicas of a webhook: a Service, played on loopback.

A connection is given to a ready replica when it is made and stays with it, as with kube-proxy. A
replica gets no new ones once its /readyz fails or it does not answer; what is established stays.
"""

import asyncio
import random
from dataclasses import dataclass, field
from typing import Final, cast

import aiohttp

from localcluster.layout import HOST

LOOK_SECONDS: Final = 0.25
LONGEST_ALERT: Final = 64
"""Bytes with which a client only takes leave in TLS; a request is longer."""


@dataclass
class Backend:
    """A replica behind the Service.

    `refused` counts connections that it did not take; `cut` those that it ended while an answer
    was due.
    """

    port: int
    operations: int
    is_ready: bool = True
    connections: int = 0
    refused: int = 0
    cut: int = 0


@dataclass
class Balancer:
    """Forwards bytes from one port to the backends; all of it runs in one event loop."""

    port: int
    backends: list[Backend] = field(default_factory=list)
    clients: set["_Client"] = field(default_factory=set)

    async def run(self) -> None:
        """Serves until it is cancelled."""
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: _Client(self), HOST, self.port)
        try:
            async with aiohttp.ClientSession() as session:
                await self._look(session)
        finally:
            server.close()
            for client in list(self.clients):
                client.transport.abort()
            await asyncio.sleep(0.1)

    def pick(self) -> Backend:
        """A ready replica, or any if there is none, as a connection attempt would find it."""
        ready = [backend for backend in self.backends if backend.is_ready]
        return random.choice(ready or self.backends)  # noqa: S311 - as kube-proxy does

    async def _look(self, session: aiohttp.ClientSession) -> None:
        """Asks every replica whether it is ready, as kubelets do for the endpoints."""
        while True:
            await asyncio.gather(*(_ask(session, backend) for backend in self.backends))
            await asyncio.sleep(LOOK_SECONDS)


class _Client(asyncio.Protocol):
    """The API server's end of a connection."""

    transport: asyncio.Transport

    def __init__(self, balancer: Balancer) -> None:
        self._balancer = balancer
        self._replica: _Replica | None = None
        self._early: list[bytes] = []
        self.is_gone = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self._balancer.clients.add(self)
        self._connecting = asyncio.get_running_loop().create_task(self._connect())

    async def _connect(self) -> None:
        backend = self._balancer.pick()
        try:
            _, self._replica = await asyncio.get_running_loop().create_connection(
                lambda: _Replica(backend, self), HOST, backend.port
            )
        except OSError:
            backend.refused += 1
            self.transport.abort()
        else:
            for data in self._early:
                self._replica.ask(data)
            if self.is_gone:
                self._replica.transport.close()

    def data_received(self, data: bytes) -> None:
        if self._replica:
            self._replica.ask(data)
        else:
            self._early.append(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_gone = True
        self._balancer.clients.discard(self)
        if self._replica:
            self._replica.transport.close()


class _Replica(asyncio.Protocol):
    """A replica's end of it; `is_asked` until it answers."""

    transport: asyncio.Transport

    def __init__(self, backend: Backend, client: _Client) -> None:
        self._backend = backend
        self._client = client
        self.is_asked = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self._backend.connections += 1

    def ask(self, data: bytes) -> None:
        self.is_asked |= len(data) > LONGEST_ALERT
        self.transport.write(data)

    def data_received(self, data: bytes) -> None:
        self.is_asked = False
        self._client.transport.write(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._backend.connections -= 1
        self._backend.cut += self.is_asked and not self._client.is_gone
        self._client.transport.close()


async def _ask(session: aiohttp.ClientSession, backend: Backend) -> None:
    try:
        async with session.get(f"http://{HOST}:{backend.operations}/readyz") as answer:
            backend.is_ready = answer.status == 200
    except (aiohttp.ClientError, OSError):
        backend.is_ready = False
