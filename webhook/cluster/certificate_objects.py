"""The Secret with the certificate and the two registrations, as the API server holds them.

Every write carries the version that it was decided on, and of a registration only the caBundle of
each entry is applied, under a field manager of its own: whoever applies the manifests again does
not take it away, and nothing else becomes ours.
"""

import asyncio
import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
from aiohttp import ClientError
from kubernetes.aio import client
from kubernetes.aio.client.exceptions import ApiException

from webhook.cluster.calls import JSON, call, message

FIELD_MANAGER: Final = "kueue-steps-certificates"
GROUP: Final = "admissionregistration.k8s.io/v1"
KINDS: Final = {
    "mutatingwebhookconfigurations": "MutatingWebhookConfiguration",
    "validatingwebhookconfigurations": "ValidatingWebhookConfiguration",
}

APPLY: Final = "application/apply-patch+yaml"
ANSWER_SECONDS: Final = 10.0
WATCH_SECONDS: Final = 300
LONGEST_PAUSE: Final = 10.0
NOT_FOUND: Final = 404
CONFLICT: Final = 409
BAD: Final = 300


class Conflict(Exception):
    """Somebody else wrote first: everything has to be read again."""


class Unreachable(Exception):
    """The API server did not answer, or refused; the message says what was asked."""


@dataclass(frozen=True)
class Place:
    """Where everything is."""

    namespace: str
    secret: str
    mutating: str
    validating: str

    @property
    def secrets(self) -> str:
        """The path of the namespace's Secrets."""
        return f"/api/v1/namespaces/{self.namespace}/secrets"

    @property
    def registrations(self) -> tuple[tuple[str, str], ...]:
        """Plural and name of each registration."""
        return tuple(zip(KINDS, (self.mutating, self.validating), strict=True))


@dataclass(frozen=True)
class Registration:
    """A webhook configuration: the caBundle (PEM) that each of its entries carries."""

    plural: str
    name: str
    version: str
    bundles: Mapping[str, bytes]

    def carries(self, bundle: bytes) -> bool:
        """Does every entry carry exactly this?"""
        return all(carried == bundle for carried in self.bundles.values())

    def __str__(self) -> str:
        return f"{self.plural}/{self.name}"


@dataclass(frozen=True)
class Stored:
    """The Secret; `kept` of its metadata, and its type, stay as they are."""

    version: str
    data: Mapping[str, bytes]
    kept: Mapping[str, Any] = field(default_factory=dict)
    type: str = "kubernetes.io/tls"


class CertificateObjects:
    """Reads, writes and watches them."""

    def __init__(self, api: client.ApiClient, place: Place) -> None:
        self._api = api
        self._place = place

    async def registrations(self) -> Sequence[Registration | str]:
        """Each registration, or plural/name of one that does not exist."""
        found: list[Registration | str] = []
        for plural, name in self._place.registrations:
            item = await self._call("GET", f"/apis/{GROUP}/{plural}/{name}")
            found.append(_registration(plural, item) if item else f"{plural}/{name}")
        return found

    async def secret(self) -> Stored | None:
        """The Secret, None if there is none."""
        item = await self._call("GET", f"{self._place.secrets}/{self._place.secret}")
        if item is None:
            return None
        data = {key: base64.b64decode(value) for key, value in (item.get("data") or {}).items()}
        metadata = item["metadata"]
        kept = {key: metadata[key] for key in ("labels", "annotations") if key in metadata}
        return Stored(metadata["resourceVersion"], data, kept, item.get("type", "Opaque"))

    async def write(self, data: Mapping[str, bytes], over: Stored | None) -> None:
        """Makes the Secret, or replaces what was read. Raises Conflict.

        A Secret of another type can't be changed into ours, and stays of its type.
        """
        place = self._place
        metadata: dict[str, Any] = {"namespace": place.namespace, "name": place.secret}
        body = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": metadata,
            "data": {key: base64.b64encode(value).decode() for key, value in data.items()},
        }
        if over is None:
            await self._written("POST", place.secrets, body | {"type": "kubernetes.io/tls"})
            return
        metadata |= {**over.kept, "resourceVersion": over.version}
        path = f"{place.secrets}/{place.secret}"
        await self._written("PUT", path, body | {"type": over.type})

    async def publish(self, registration: Registration, bundle: bytes) -> None:
        """Lets each entry of a registration carry this bundle. Raises Conflict."""
        encoded = base64.b64encode(bundle).decode()
        entries = [
            {"name": name, "clientConfig": {"caBundle": encoded}} for name in registration.bundles
        ]
        body = {
            "apiVersion": GROUP,
            "kind": KINDS[registration.plural],
            "metadata": {"name": registration.name, "resourceVersion": registration.version},
            "webhooks": entries,
        }
        await self._written(
            "PATCH",
            f"/apis/{GROUP}/{registration.plural}/{registration.name}",
            body,
            query={"fieldManager": FIELD_MANAGER, "force": "true"},
        )

    async def follow(self, changed: Callable[[], None], lost: Callable[[str], None]) -> None:
        """Calls `changed` after each change of any of them, until cancelled."""
        paths = [(f"/apis/{GROUP}/{plural}", name) for plural, name in self._place.registrations]
        async with asyncio.TaskGroup() as tasks:
            for path, name in [(self._place.secrets, self._place.secret), *paths]:
                tasks.create_task(self._follow(path, name, changed, lost))

    async def _follow(
        self, path: str, name: str, changed: Callable[[], None], lost: Callable[[str], None]
    ) -> None:
        """A watch without a version begins with the object as it is, so none can be missed."""
        pause = 0.0
        while True:
            try:
                async for _ in self._watch(path, name):
                    pause = 0.0
                    changed()
            except Unreachable as error:
                lost(str(error))
            except Exception as error:  # noqa: BLE001 - the client's own, such as a torn token
                lost(repr(error))
            pause = min(LONGEST_PAUSE, 2 * pause or 0.2)
            await asyncio.sleep(pause)

    async def _watch(self, path: str, name: str) -> Any:
        query = {
            "watch": "true",
            "fieldSelector": f"metadata.name={name}",
            "timeoutSeconds": WATCH_SECONDS,
        }
        try:
            response = await self._send("GET", path, query, patience=WATCH_SECONDS + 30.0)
            async with response.response as stream:
                if stream.status >= BAD:
                    raise Unreachable(f"watch of {path}: {stream.status} {stream.reason}")
                async for chunk in stream.content.iter_any():
                    yield chunk
        except (ApiException, ClientError, OSError, TimeoutError) as error:
            raise Unreachable(f"watch of {path}: {error or type(error).__name__}") from error

    async def _written(
        self, method: str, path: str, body: dict[str, Any], query: Mapping[str, Any] | None = None
    ) -> None:
        if await self._call(method, path, query, body) is not None:
            return
        if method == "POST":
            raise Unreachable(f"namespace {self._place.namespace} does not exist")
        raise Conflict(f"{path} is gone")

    async def _call(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any] | None = None,
        body: dict[str, Any] | None = None,
    ) -> Any:
        """The answer, None for 404. Raises Conflict and Unreachable."""
        try:
            response = await self._send(method, path, query or {}, body)
            content = await response.read()
            if response.status == NOT_FOUND:
                return None
            if response.status == CONFLICT:
                raise Conflict(path)
            if response.status >= BAD:
                words = message(content) or content[:200].decode(errors="replace")
                raise Unreachable(f"{method} {path}: {response.status} {words}")
            return msgspec.json.decode(content)
        except (ApiException, ClientError, OSError, TimeoutError, msgspec.MsgspecError) as error:
            words = str(error) or type(error).__name__
            raise Unreachable(f"{method} {path}: {words}") from error

    async def _send(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any],
        body: dict[str, Any] | None = None,
        patience: float = ANSWER_SECONDS,
    ) -> Any:
        content_type = APPLY if method == "PATCH" else JSON
        return await call(
            self._api,
            method,
            path,
            query=query,
            body=body,
            content_type=content_type,
            patience=patience,
        )


def _registration(plural: str, item: Any) -> Registration:
    bundles = {
        entry["name"]: base64.b64decode(entry["clientConfig"].get("caBundle", ""))
        for entry in item.get("webhooks") or []
    }
    metadata = item["metadata"]
    return Registration(plural, metadata["name"], metadata["resourceVersion"], bundles)
