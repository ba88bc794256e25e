"""A list and then every change of one kind, for ever, through restarts of the API server."""

import asyncio
import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from localcluster.connection import arguments
from localcluster.invariants.judge import Kind
from localcluster.manifests import Object

PATIENCE_SECONDS = 10.0
RETRY_SECONDS = 0.2
GONE = 410

_KUEUE = "/apis/kueue.x-k8s.io/v1beta2"
_PATHS = {
    Kind.CLUSTER_QUEUES: f"{_KUEUE}/clusterqueues",
    Kind.LOCAL_QUEUES: f"{_KUEUE}/localqueues",
    Kind.WORKLOADS: f"{_KUEUE}/workloads",
    Kind.JOBSETS: "/apis/jobset.x-k8s.io/v1alpha2/jobsets",
    Kind.JOBS: "/apis/batch/v1/jobs",
    # Pods of Jobs, and no others.
    Kind.PODS: "/api/v1/pods?labelSelector=batch.kubernetes.io/controller-uid",
}


@dataclass(frozen=True, slots=True)
class Listed:
    """All objects of the kind."""

    items: list[Object]


@dataclass(frozen=True, slots=True)
class Changed:
    """One object, made, changed or deleted."""

    item: Object
    is_deleted: bool


@dataclass(frozen=True, slots=True)
class Lost:
    """The API server does not answer, from now on."""


@dataclass(frozen=True, slots=True)
class Back:
    """It answers again."""


Change = Listed | Changed | Lost | Back


class Expired(Exception):
    """The list has to be read anew."""


class Stream:
    """The changes of one kind in all namespaces."""

    def __init__(self, http: httpx.AsyncClient, kind: Kind) -> None:
        self._http = http
        self._url = httpx.URL(_PATHS[kind])
        self._version = ""

    async def follow(self) -> AsyncGenerator[Change, None]:
        """A `Listed` first, and again where changes were missed; never ends."""
        is_lost = False
        while True:
            try:
                if not self._version:
                    yield Listed(await self._list())
                async for change in self._watch():
                    if is_lost:
                        is_lost = False
                        yield Back()
                    if change:
                        yield change
            except Expired:
                self._version = ""
            # While the API server starts it may also not know a kind yet, or send half a line.
            except (httpx.HTTPError, json.JSONDecodeError):
                if not is_lost:
                    is_lost = True
                    yield Lost()
                await asyncio.sleep(RETRY_SECONDS)

    async def _list(self) -> list[Object]:
        answer = await self._http.get(self._url)
        answer.raise_for_status()
        page: Any = answer.json()
        self._version = page["metadata"]["resourceVersion"]
        items: list[Object] = page["items"]
        return items

    async def _watch(self) -> AsyncGenerator[Changed | None, None]:
        """None first, as soon as the watch is on."""
        url = self._url.copy_merge_params(
            {"watch": "1", "resourceVersion": self._version, "allowWatchBookmarks": "true"}
        )
        # The server ends a watch after half an hour at least; between changes it is silent.
        silent = httpx.Timeout(PATIENCE_SECONDS, read=None)
        async with self._http.stream("GET", url, timeout=silent) as answer:
            if answer.status_code == GONE:
                raise Expired
            answer.raise_for_status()
            yield None
            async for line in answer.aiter_lines():
                event = json.loads(line)
                if event["type"] == "ERROR":
                    raise Expired
                self._version = event["object"]["metadata"]["resourceVersion"]
                if event["type"] != "BOOKMARK":
                    yield Changed(event["object"], event["type"] == "DELETED")


def client(kubeconfig: Path) -> httpx.AsyncClient:
    """The API server, as the user of a kubeconfig that `identity` wrote."""
    return httpx.AsyncClient(**arguments(kubeconfig))
