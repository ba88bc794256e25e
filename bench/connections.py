"""Connections to the API server for clients of our own making: many, fast, and as a user."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import aiohttp

from localcluster.connection import arguments

PATIENCE_SECONDS: Final = 60.0
POST: Final = {"Content-Type": "application/json"}


@asynccontextmanager
async def session(kubeconfig: Path) -> AsyncIterator[aiohttp.ClientSession]:
    """Connections as the user of a kubeconfig, as many as are asked for."""
    said: dict[str, Any] = arguments(kubeconfig)
    async with aiohttp.ClientSession(
        said["base_url"],
        headers=said["headers"],
        connector=aiohttp.TCPConnector(ssl=said["verify"], limit=0),
        timeout=aiohttp.ClientTimeout(total=PATIENCE_SECONDS),
    ) as http:
        yield http
