"""One listening socket with an application behind it."""

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Generator
from typing import Final

import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from webhook.http.connection import Connection

KEEP_ALIVE_SECONDS: Final = 120
"""Longer than the 90 s for which API servers keep idle connections.

With uvicorn's 5 s, a review that meets a connection as it closes fails (13 of 288 calls, measured),
and Go never sends a POST twice.
"""

PATIENCE_SECONDS: Final = 10.0
"""For a TLS handshake, for a request's headers and for its body; API servers wait 5 s for all."""

IN_FLIGHT_SECONDS: Final = 10
"""For reviews that are in flight when the listener stops; API servers wait 5 s for theirs."""

BACKLOG: Final = 2048


class Listener(uvicorn.Server):
    """A uvicorn server on a socket of its own that leaves signals to the program around it.

    The socket is bound at once: OSError where the port is taken. An empty host means every address,
    IPv4 and IPv6; port 0 takes a free one. `latest` is the loop's time of the latest connection.
    """

    def __init__(
        self,
        app: ASGIApp,
        host: str,
        port: int,
        *,
        tls: ssl.SSLContext | None = None,
        patience: float = PATIENCE_SECONDS,
    ) -> None:
        self._socket = _bound(host, port)
        self.port: int = self._socket.getsockname()[1]
        self.latest = 0.0
        self._tls = tls
        self._patience = patience
        self._opened: set[Connection] = set()
        self._parting = Parting(app)
        config = uvicorn.Config(
            self._parting,
            http=Connection,
            ws="none",
            loop="uvloop",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            proxy_headers=False,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=IN_FLIGHT_SECONDS,
        )
        super().__init__(config)

    @property
    def open_connections(self) -> int:
        """How many connections there are, idle ones included."""
        return len(self._opened)

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Two listeners share one process, so neither may take its signals."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:  # noqa: ARG002
        """Listens as uvicorn does, but bounds the TLS handshake too (uvloop's default is 60 s)."""
        server = await asyncio.get_running_loop().create_server(
            self._connection,
            sock=self._socket,
            backlog=BACKLOG,
            ssl=self._tls,
            ssl_handshake_timeout=self._patience if self._tls else None,
        )
        self.servers = [server]
        self.started = True

    async def run_until_stopped(self) -> None:
        """Serves until `stop` is called and what is in flight is answered."""
        await self.serve([self._socket])

    def part(self) -> None:
        """From now on each answer is the last one on its connection."""
        self._parting.begun = True

    def stop(self, *, at_once: bool = False) -> None:
        """Takes no new connections, ends idle ones and lets `run_until_stopped` end.

        What is in flight is answered first, unless it has to be at once.
        """
        self.force_exit = at_once
        self.should_exit = True

    def _connection(self) -> Connection:
        self.latest = asyncio.get_running_loop().time()
        return Connection(
            self.config, self.server_state, opened=self._opened, patience=self._patience
        )


class Parting:
    """An application whose answers say `Connection: close` once the parting has begun.

    A client that reads this does not send another request on the connection, so that the
    connection ends between two requests and never under one.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.begun = False
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a call on; what counts is the state at the time of its answer."""

        async def send_and_close(message: Message) -> None:
            if self.begun and message["type"] == "http.response.start":
                headers = [*message.get("headers", ()), (b"connection", b"close")]
                message = {**message, "headers": headers}
            await send(message)

        await self._app(scope, receive, send_and_close)


def _bound(host: str, port: int) -> socket.socket:
    if not host and socket.has_dualstack_ipv6():
        return socket.create_server(
            ("", port), family=socket.AF_INET6, dualstack_ipv6=True, backlog=BACKLOG
        )
    return socket.create_server((host, port), backlog=BACKLOG)
