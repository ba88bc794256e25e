"""A connection to the API server that stays open: four lists, ten times a second.

kubectl would do, but starting it costs more than the answer, on a machine that is busy enough.
"""

from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx

from localcluster.connection import arguments
from localcluster.demo.errors import DemoFailed
from localcluster.manifests import Object


class Client:
    """The API server, as the user of a kubeconfig that `identity` wrote."""

    def __init__(self, kubeconfig: Path) -> None:
        self._http = httpx.Client(**arguments(kubeconfig))

    def list(self, version: str, plural: str, namespace: str) -> list[Object]:
        """All objects of a kind in the namespace, as the API server's own cache has them."""
        # resourceVersion=0 spares etcd; the cache is what every controller sees too.
        answer = self._call("GET", _path(version, plural, namespace), params="resourceVersion=0")
        items: list[Object] = answer["items"]
        return items

    def create(self, plural: str, item: Object) -> None:
        """Create the object in its namespace; DemoFailed with the API server's reason."""
        path = _path(item["apiVersion"], plural, item["metadata"]["namespace"])
        self._call("POST", path, json=item)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._http.close()

    def _call(self, method: str, path: str, **arguments: Any) -> Any:
        try:
            answer = self._http.request(method, path, **arguments)
        except httpx.HTTPError as error:
            raise DemoFailed(f"{method} {path}: the API server did not answer: {error}") from error
        if answer.is_error:
            raise DemoFailed(f"{method} {path}: {answer.status_code} {answer.text}")
        return answer.json()


def _path(version: str, plural: str, namespace: str) -> str:
    root = "apis" if "/" in version else "api"
    return f"/{root}/{version}/namespaces/{namespace}/{plural}"
