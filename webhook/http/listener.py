"""One listening socket with an application behind it."""

import contextlib
import socket
import ssl
from collections.abc import Generator
from typing import Final

import uvicorn
from starlette.types import ASGIApp

KEEP_ALIVE_SECONDS: Final = 120
"""Longer than the 90 s for which API servers keep idle connections.

With uvicorn's 5 s, a review that meets a connection as it closes fails (13 of 288 calls, measured),
and Go never sends a POST twice.
"""

BACKLOG: Final = 2048


class Listener(uvicorn.Server):
    """A uvicorn server on a socket of its own that leaves signals to the program around it.

    The socket is bound at once: OSError where the port is taken. An empty host means every address,
    IPv4 and IPv6; port 0 takes a free one.
    """

    def __init__(
        self, app: ASGIApp, host: str, port: int, *, tls: ssl.SSLContext | None = None
    ) -> None:
        self._socket = _bound(host, port)
        self.port: int = self._socket.getsockname()[1]
        config = uvicorn.Config(
            app,
            http="httptools",
            loop="uvloop",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            backlog=BACKLOG,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=10,
            ssl_context_factory=(lambda _config, _default: tls) if tls else None,
        )
        super().__init__(config)

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Two listeners share one process, so neither may take its signals."""
        yield

    async def run_until_stopped(self) -> None:
        """Serves until `stop` is called and what is in flight is answered."""
        await self.serve([self._socket])

    def stop(self) -> None:
        """Takes no new connections and lets `run_until_stopped` end."""
        self.should_exit = True


def _bound(host: str, port: int) -> socket.socket:
    if not host and socket.has_dualstack_ipv6():
        return socket.create_server(
            ("", port), family=socket.AF_INET6, dualstack_ipv6=True, backlog=BACKLOG
        )
    return socket.create_server((host, port), backlog=BACKLOG)
