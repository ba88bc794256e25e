"""Reads the objects that the rules ask for: bounded in time, runtimes cached, never raising."""

import asyncio
from time import monotonic
from typing import Any, Final

from aiohttp import ClientError
from kubernetes.aio import client
from kubernetes.aio.client.exceptions import ApiException

from webhook.rules import names
from webhook.rules.facts import Absent, Answer, Found, Key, Unreadable

VERSION: Final = "v1alpha1"
CACHED: Final = frozenset({"clustertrainingruntimes", "trainingruntimes"})
"""A TrainJob is always read live: its uid is what a JobSet's owner is checked by."""

NOT_FOUND: Final = 404
CACHE_SIZE: Final = 1024


class ClusterReader:
    """A `rules.facts.Reader` on the API server.

    `timeout` and `time_to_live` are seconds. Only what was found is cached: a runtime that has just
    been made is seen at once, and a failure is not remembered.
    """

    def __init__(self, api: client.ApiClient, *, timeout: float, time_to_live: float) -> None:
        self._objects = client.CustomObjectsApi(api)
        self._timeout = timeout
        self._time_to_live = time_to_live
        self._cache: dict[Key, tuple[float, Found]] = {}

    async def read(self, key: Key) -> Answer:
        """The answer for one key, within the time-out."""
        if (cached := self._cached(key)) is not None:
            return cached
        answer = await self._fetch(key)
        if isinstance(answer, Found) and key.plural in CACHED:
            self._remember(key, answer)
        return answer

    async def _fetch(self, key: Key) -> Answer:
        try:
            async with asyncio.timeout(self._timeout):
                return Found(await self._get(key))
        except ApiException as error:
            if error.status == NOT_FOUND:
                return Absent()
            return Unreadable(f"the API server answered {error.status} {error.reason}")
        except TimeoutError:
            return Unreadable(f"the API server did not answer within {self._timeout:g} s")
        except (ClientError, OSError) as error:
            return Unreadable(f"the API server could not be reached: {error}")

    async def _get(self, key: Key) -> Any:
        if key.namespace:
            return await self._objects.get_namespaced_custom_object(
                names.TRAINER_GROUP, VERSION, key.namespace, key.plural, key.name
            )
        return await self._objects.get_cluster_custom_object(
            names.TRAINER_GROUP, VERSION, key.plural, key.name
        )

    def _cached(self, key: Key) -> Found | None:
        expires, found = self._cache.get(key, (0.0, None))
        return found if monotonic() < expires else None

    def _remember(self, key: Key, found: Found) -> None:
        if len(self._cache) >= CACHE_SIZE:
            self._cache.clear()
        self._cache[key] = (monotonic() + self._time_to_live, found)
