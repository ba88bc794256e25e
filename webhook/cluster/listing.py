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
RESTARTS: Final = 3
"""How often a list whose pages expire while they are read is begun anew."""

PENDING_PAGE: Final = 1000
"""Kueue's own default (pkg/constants/constants.go in v0.19.2)."""

LOCAL_QUEUE: Final = "localqueue"
"""What Kueue calls the kind that is not found (pkg/visibility/storage/pending_workloads_lq.go)."""

NOT_KNOWN: Final = "the API server does not accept these credentials."
VISIBILITY: Final = "/apis/visibility.kueue.x-k8s.io/v1beta2"


class Unread(Exception):
    """A list could not be read; the message says why, `is_refused` that a right is missing."""

    def __init__(self, why: str, *, is_refused: bool = False) -> None:
        super().__init__(why)
        self.is_refused = is_refused


class NoQueue(Exception):
    """Kueue's visibility API is there, and knows no such LocalQueue."""


@dataclass(frozen=True, slots=True)
class Listing:
    """Objects of a kind: in one namespace, or in all where none is named, narrowed by selectors.

    `is_cached` is whether the API server may answer with what it has in memory, which may lag
    behind its store a little, and costs the store nothing.
    """

    group: str
    version: str
    plural: str
    namespace: str = ""
    labels: str = ""
    fields: str = ""
    is_cached: bool = False

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

    @property
    def beginning(self) -> dict[str, str]:
        """What the first page alone is asked for."""
        return {"resourceVersion": "0"} if self.is_cached else {}


class _Expired(Exception):
    """The pages that are left are of a state that the API server has forgotten."""


class _PageMetadata(msgspec.Struct, frozen=True):
    token: str = msgspec.field(default="", name="continue")


class _Details(msgspec.Struct, frozen=True):
    kind: str = ""


class _Missing(msgspec.Struct, frozen=True):
    details: _Details = _Details()


class _Page(msgspec.Struct, frozen=True):
    items: list[msgspec.Raw] | None = None
    metadata: _PageMetadata = _PageMetadata()


async def listed(
    api: client.ApiClient, listing: Listing, *, seconds: float
) -> list[msgspec.Raw] | None:
    """All of its objects, None where the API server does not know the kind. Raises Unread.

    `seconds` bounds each page. Pages that have expired are read from the first on.
    """
    for _ in range(1 + RESTARTS):
        try:
            return await _all_pages(api, listing, seconds)
        except _Expired:
            continue
    raise Unread(
        f"the list of {listing.plural} changes faster than it is read: ask for one namespace or "
        "for one name"
    )


async def _all_pages(
    api: client.ApiClient, listing: Listing, seconds: float
) -> list[msgspec.Raw] | None:
    items, token = list[msgspec.Raw](), ""
    while True:
        query = listing.query | ({"continue": token} if token else listing.beginning)
        status, content = await _got(api, listing.path, query, seconds)
        if status == HTTPStatus.NOT_FOUND:
            return None
        if status == HTTPStatus.GONE and token:
            raise _Expired
        page = _page(status, content)
        items += [item.copy() for item in page.items or ()]
        if not (token := page.metadata.token):
            return items


async def pending(
    api: client.ApiClient, namespace: str, queue: str, *, seconds: float
) -> list[msgspec.Raw] | None:
    """What waits in a LocalQueue, in order, by Kueue's visibility API; None where it has none.

    Raises Unread, NoQueue. What moves between two pages may be in both or in none.
    """
    path = f"{VISIBILITY}/namespaces/{namespace}/localqueues/{queue}/pendingworkloads"
    items = list[msgspec.Raw]()
    while True:
        query = {"limit": str(PENDING_PAGE), "offset": str(len(items))}
        status, content = await _got(api, path, query, seconds)
        if status == HTTPStatus.NOT_FOUND:
            if _missing_kind(content) == LOCAL_QUEUE:
                raise NoQueue
            return None
        page = _page(status, content).items or []
        items += [item.copy() for item in page]
        if len(page) < PENDING_PAGE:
            return items


def _missing_kind(content: bytes) -> str:
    """The kind of what a Status object says is not found; empty where nothing serves the path."""
    try:
        return msgspec.json.decode(content, type=_Missing).details.kind
    except msgspec.MsgspecError:
        return ""


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
        raise Unread(
            f"the API server can't be reached: {why}. "
            "Check that the cluster runs, or name another one with --kubeconfig"
        ) from error
