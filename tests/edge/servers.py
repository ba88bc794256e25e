"""Applications behind real sockets, for tests of what happens on them."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import trustme
from kubernetes.aio import client

from webhook.http.listener import Listener

UVLOOP: tuple[str, dict[str, bool]] = ("asyncio", {"use_uvloop": True})
"""The loop of the real server: its TLS, its timers and its way of closing are its own."""


@asynccontextmanager
async def serving(app: Any, **options: Any) -> AsyncIterator[Listener]:
    """The application on a free port; after the block it is stopped, if it isn't yet."""
    listener = Listener(app, "127.0.0.1", 0, **options)
    task = asyncio.create_task(listener.run_until_stopped())
    try:
        yield listener
    finally:
        listener.stop()
        await task


@asynccontextmanager
async def connected_to(app: Any) -> AsyncIterator[client.ApiClient]:
    """A client of the application, which plays an API server."""
    async with serving(app) as listener:
        settings = client.Configuration(host=f"http://127.0.0.1:{listener.port}")
        async with client.ApiClient(settings) as connection:
            yield connection


def contexts() -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """TLS contexts of a server `localhost` and of a client that trusts it."""
    authority = trustme.CA()
    server, client = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.create_default_context()
    authority.issue_cert("localhost").configure_cert(server)
    authority.configure_trust(client)
    return server, client
