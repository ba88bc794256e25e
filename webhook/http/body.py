"""Reads the body of a review, with the checks that come before decoding."""

from typing import Final

from starlette.types import Receive, Scope

from webhook.rules.errors import BadReview

MAX_BYTES: Final = 7 * 1024 * 1024
"""Two objects of at most 3 MiB and an envelope; controller-runtime's webhooks have the same cap."""


async def read(scope: Scope, receive: Receive) -> bytes:
    """The whole body, at most MAX_BYTES long. BadReview 415 or 413, the latter while streaming."""
    headers = dict(scope["headers"])
    media_type = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
    if media_type != b"application/json":
        shown = media_type.decode("latin-1") or "missing"
        raise BadReview(f"The content type must be application/json; it is {shown}.", code=415)
    length = headers.get(b"content-length", b"")
    if length.isdigit() and int(length) > MAX_BYTES:
        raise _too_large()
    chunks: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise BadReview("The client went away before the whole body had arrived.")
        chunk: bytes = message.get("body", b"")
        size += len(chunk)
        if size > MAX_BYTES:
            raise _too_large()
        chunks.append(chunk)
        if not message.get("more_body", False):
            return b"".join(chunks)


def _too_large() -> BadReview:
    return BadReview(f"The body is larger than {MAX_BYTES} bytes (7 MiB).", code=413)
