"""Reads lists as they are now, in pages, for whoever shows them: nothing cached, nothing watched.

Objects come as raw JSON: what is of interest in them is for the reader to say.
"""

import asyncio
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

import msgspec
from aiohttp import ClientError
from kubernetes.aio import client

from webhook.cluster.calls import call, message

PAGE: Final = 500
NOT_KNOWN: Final = "the API server does not accept these credentials."
VISIBILITY: Final = "/apis/visibility.kueue.x-k8s.io/v1beta2"


class Unread(Exception):
    """A list could not be read; the message says why, `is_refused` that a right is missing."""

    def __init__(self, why: str, *, is_refused: bool = False) -> None:
        super().__init__(why)
        self.is_refused = is_refused


@dataclass(frozen=True, slots=True)
class Listing:
    """Objects of a kind: in one namespace, or in all where none is named, narrowed by selectors."""

    group: str
    version: str
    plural: str
    namespace: str = ""
    labels: str = ""
    fields: str = ""

    @property
    def path(self) -> str:
        """Where the API server has it."""
        place = f"/namespaces/{self.namespace}" if self.namespace else ""
        return f"/apis/{self.group}/{self.version}{place}/{self.plural}"

    @property
    def query(self) -> dict[str, str]:
        """What narrows it, and the size of a page."""
        selectors = {"labelSelector": self.labels, "fieldSelector": self.fields}
        return {"limit": str(PAGE)} | {key: value for key, value in selectors.items() if value}


class _PageMetadata(msgspec.Struct, frozen=True):
    token: str = msgspec.field(default="", name="continue")


class _Page(msgspec.Struct, frozen=True):
    items: list[msgspec.Raw] | None = None
    metadata: _PageMetadata = _PageMetadata()


async def listed(
    api: client.ApiClient, listing: Listing, *, seconds: float
) -> list[msgspec.Raw] | None:
    """All of its objects, None where the API server does not know the kind. Raises Unread.

    `seconds` bounds each page. Pages that have expired are read from the first on.
    """
    items, token = list[msgspec.Raw](), ""
    while True:
        query = listing.query | ({"continue": token} if token else {})
        status, content = await _got(api, listing.path, query, seconds)
        if status == HTTPStatus.NOT_FOUND:
            return None
        if status == HTTPStatus.GONE and token:
            items, token = [], ""
            continue
        page = _page(status, content)
        items += [item.copy() for item in page.items or ()]
        if not (token := page.metadata.token):
            return items


async def pending(
    api: client.ApiClient, namespace: str, queue: str, *, seconds: float
) -> list[msgspec.Raw] | None:
    """What waits in a LocalQueue, in order, by Kueue's visibility API; None where it has none."""
    path = f"{VISIBILITY}/namespaces/{namespace}/localqueues/{queue}/pendingworkloads"
    status, content = await _got(api, path, {}, seconds)
    if status == HTTPStatus.NOT_FOUND:
        return None
    return _page(status, content).items or []


def _page(status: int, content: bytes) -> _Page:
    if status == HTTPStatus.UNAUTHORIZED:
        raise Unread(f"{NOT_KNOWN} Log in again, or name others with --kubeconfig")
    if status != HTTPStatus.OK:
        why = message(content) or f"the API server answered {status}"
        raise Unread(why, is_refused=status == HTTPStatus.FORBIDDEN)
    try:
        return msgspec.json.decode(content, type=_Page)
    except msgspec.MsgspecError as error:
        raise Unread("the API server's answer is no list") from error


async def _got(
    api: client.ApiClient, path: str, query: dict[str, str], seconds: float
) -> tuple[int, bytes]:
    try:
        async with asyncio.timeout(seconds):
            response: Any = await call(api, "GET", path, query=query)
            return response.status, await response.read()
    except TimeoutError as error:
        raise Unread(f"the API server did not answer within {seconds:g} s") from error
    except (ClientError, OSError) as error:
        why = str(error) or type(error).__name__
        raise Unread(f"the API server can't be reached: {why}") from error
