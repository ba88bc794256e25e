"""One call of the API server in plain JSON, for every reader and writer of this room."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from kubernetes.aio import client

JSON: Final = "application/json"
METADATA: Final = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
"""Metadata alone: an object may be large, and often its labels and its uid are all that counts."""

METADATA_LIST: Final = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"


async def call(
    api: client.ApiClient,
    method: str,
    path: str,
    *,
    query: Mapping[str, Any] | None = None,
    body: Any = None,
    content_type: str = JSON,
    accept: str = JSON,
    patience: float | None = None,
) -> Any:
    """The response, of whatever status, its body not read yet.

    `patience` is seconds. Raises what aiohttp raises, and the client library's own.
    """
    request = await api.param_serialize(
        method,
        path,
        query_params=list((query or {}).items()),
        header_params={"Accept": accept, "Content-Type": content_type},
        body=body,
        auth_settings=["BearerToken"],
    )
    return await api.call_api(*request, _request_timeout=patience)


def message(content: bytes) -> str:
    """What the API server's Status object says; empty where it is none."""
    try:
        status = msgspec.json.decode(content, type=dict[str, Any])
    except msgspec.MsgspecError:
        return ""
    return str(status.get("message") or "")
