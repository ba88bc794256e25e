"""Reads the body of a review, with the checks that come before decoding."""

import asyncio
from typing import Final

from starlette.types import Receive, Scope

from webhook.http.intake import MEBIBYTE, Call
from webhook.rules.errors import BadReview

MAX_BYTES: Final = 7 * MEBIBYTE
"""Two objects of at most 3 MiB and an envelope; controller-runtime's webhooks have the same cap."""


async def read(scope: Scope, receive: Receive, call: Call, *, within: float) -> bytes:
    """The whole body, at most MAX_BYTES long, in so many seconds.

    Most bodies come in one piece and cost no timer; one of which nothing comes is the connection's
    business. Raises BadReview 415, 413 (while streaming) or 408, and Overloaded.
    """
    _check(dict(scope["headers"]))
    first, is_more = await _piece(receive)
    call.hold(len(first))
    if not is_more:
        return _fitting(first)
    try:
        async with asyncio.timeout(within):
            return await _whole(first, receive, call)
    except TimeoutError:
        raise BadReview(f"The body did not arrive within {within:g} s.", code=408) from None


def _check(headers: dict[bytes, bytes]) -> None:
    media_type = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
    if media_type != b"application/json":
        shown = media_type.decode("latin-1") or "missing"
        raise BadReview(f"The content type must be application/json; it is {shown}.", code=415)
    length = headers.get(b"content-length", b"")
    if length.isdigit() and int(length) > MAX_BYTES:
        raise _too_large()


async def _whole(first: bytes, receive: Receive, call: Call) -> bytes:
    pieces, size, is_more = [first], len(first), True
    while is_more:
        piece, is_more = await _piece(receive)
        size += len(piece)
        if size > MAX_BYTES:
            raise _too_large()
        call.hold(len(piece))
        pieces.append(piece)
    return b"".join(pieces)


async def _piece(receive: Receive) -> tuple[bytes, bool]:
    message = await receive()
    if message["type"] == "http.disconnect":
        raise BadReview("The client went away before the whole body had arrived.")
    return message.get("body", b""), message.get("more_body", False)


def _fitting(content: bytes) -> bytes:
    if len(content) > MAX_BYTES:
        raise _too_large()
    return content


def _too_large() -> BadReview:
    return BadReview(f"The body is larger than {MAX_BYTES} bytes (7 MiB).", code=413)
