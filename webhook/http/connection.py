"""One connection of a client that may be slow, silent or hostile.

uvicorn's protocol bounds the silence between two requests and nothing else. Here a request that
has begun must arrive as well: its headers in `patience` seconds, and its body in as many again.
A connection that has not sent anything is as good as one between two requests: Go's clients dial
ahead of need, and must never find that such a connection was closed under a first request.

What is overridden are the callbacks of asyncio.Protocol and of httptools' parser, no others.
"""

import asyncio
from enum import Enum, auto
from http import HTTPStatus
from typing import Final

from uvicorn import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

MAX_HEADER_BYTES: Final = 64 * 1024
"""API servers send less than one KiB of headers."""

SLACK_SECONDS: Final = 1.0
"""The endpoint's own answer, 408, comes before the connection is ended without one."""


class Phase(Enum):
    """What a connection has sent last."""

    NOTHING = auto()
    SOME_HEADERS = auto()
    SOME_BODY = auto()
    A_WHOLE_REQUEST = auto()


class Connection(HttpToolsProtocol):
    """uvicorn's protocol with a bound on every wait for bytes; it is in `opened` while it lasts."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        *,
        opened: "set[Connection]",
        patience: float,
    ) -> None:
        super().__init__(config=config, server_state=server_state, app_state={})
        self._opened = opened
        self._patience = patience
        self._phase = Phase.NOTHING
        self._header_bytes = 0
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Counts the connection, and waits for its first byte like for a next request."""
        self._opened.add(self)
        super().connection_made(transport)
        self._await(Phase.NOTHING)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forgets the connection."""
        self._opened.discard(self)
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Feeds the parser; a request that arrives in one piece costs no timer."""
        before = self._phase
        if before in _BETWEEN_REQUESTS:
            self._phase = Phase.SOME_HEADERS
        super().data_received(data)
        if self._phase is Phase.SOME_HEADERS:
            self._header_bytes += len(data)
            if self._header_bytes > MAX_HEADER_BYTES:
                self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
        if self._phase is not before:
            self._await(self._phase)

    def on_message_begin(self) -> None:
        """A request begins."""
        self._phase = Phase.SOME_HEADERS
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Its headers are complete."""
        self._phase = Phase.SOME_BODY
        self._header_bytes = 0
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Its body is complete."""
        self._phase = Phase.A_WHOLE_REQUEST
        super().on_message_complete()

    def _await(self, phase: Phase) -> None:
        self._stop_waiting()
        seconds = {
            Phase.NOTHING: self.config.timeout_keep_alive,
            Phase.SOME_HEADERS: self._patience,
            Phase.SOME_BODY: self._patience + SLACK_SECONDS,
        }.get(phase)
        if seconds is not None:
            self._deadline = self.loop.call_later(seconds, self._give_up)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        if self._phase is Phase.SOME_HEADERS and not self.transport.is_closing():
            self._refuse(HTTPStatus.REQUEST_TIMEOUT)
        else:
            self.transport.abort()

    def _refuse(self, status: HTTPStatus) -> None:
        text = f"HTTP/1.1 {status.value} {status.phrase}\r\n"
        self.transport.write(f"{text}connection: close\r\ncontent-length: 0\r\n\r\n".encode())
        self.transport.close()


_BETWEEN_REQUESTS: Final = (Phase.NOTHING, Phase.A_WHOLE_REQUEST)
