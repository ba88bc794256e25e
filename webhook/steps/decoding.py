"""Raw objects of the API server as views of them."""

from collections.abc import Sequence
from typing import TypeVar

import msgspec

from webhook.cluster.listing import Unread

T = TypeVar("T")


def decoded(items: Sequence[msgspec.Raw], view: type[T]) -> list[T]:
    """The objects seen through `view`. Raises Unread."""
    try:
        return [msgspec.json.decode(item, type=view) for item in items]
    except msgspec.MsgspecError as error:
        raise Unread(f"an object is of another shape than this version knows: {error}") from error
