"""Reads over one open connection: tests look many times a second, a kubectl each costs 60 ms."""

import time
import weakref
from pathlib import Path
from typing import Any

import httpx

from localcluster.connection import arguments
from localcluster.errors import KubectlError
from localcluster.manifests import Object

TRIES = 10

_KUEUE = "apis/kueue.x-k8s.io/v1beta2"
_TRAINER = "apis/trainer.kubeflow.org/v1alpha1"
ROOTS = {
    "clusterqueue": (_KUEUE, "clusterqueues"),
    "jobs": ("apis/batch/v1", "jobs"),
    "jobset": ("apis/jobset.x-k8s.io/v1alpha2", "jobsets"),
    "jobsets": ("apis/jobset.x-k8s.io/v1alpha2", "jobsets"),
    "pods": ("api/v1", "pods"),
    "trainjob": (_TRAINER, "trainjobs"),
    "trainjobs": (_TRAINER, "trainjobs"),
    "workloads.kueue.x-k8s.io": (_KUEUE, "workloads"),
}


class Reads:
    """GETs as the user of a kubeconfig, for the kinds of ROOTS."""

    def __init__(self, kubeconfig: Path) -> None:
        self._http = httpx.Client(**arguments(kubeconfig))
        weakref.finalize(self, self._http.close)

    def get(self, kind: str, name: str | None, namespace: str | None) -> Object:
        """One object if a name is given, else a List; KubectlError, as kubectl would fail."""
        root, plural = ROOTS[kind]
        place = f"namespaces/{namespace}/" if namespace and kind != "clusterqueue" else ""
        path = f"/{root}/{place}{plural}" + (f"/{name}" if name else "")
        answer = self._answer(path)
        if answer.is_error:
            raise KubectlError(["get", path], answer.text)
        content: dict[str, Any] = answer.json()
        for item in (content, *content.get("items", ())):
            item["metadata"].pop("managedFields", None)  # As kubectl shows objects.
        return content

    def _answer(self, path: str) -> httpx.Response:
        """The answer, once the API server is past what it asks to wait for, as kubectl does."""
        for _ in range(TRIES):
            answer = self._one_answer(path)
            if answer.status_code != httpx.codes.TOO_MANY_REQUESTS:
                break
            time.sleep(float(answer.headers.get("Retry-After", "1")))
        return answer

    def _one_answer(self, path: str) -> httpx.Response:
        try:
            return self._http.get(path)
        except httpx.HTTPError:
            pass  # The connection may be one to an API server that has been restarted since.
        try:
            return self._http.get(path)
        except httpx.HTTPError as error:
            raise KubectlError(["get", path], str(error)) from error
