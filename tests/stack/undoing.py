"""Somebody else's mutating webhook, which comes after ours in every round and undoes our work."""

import base64
import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import trustme

from tests.stack.objects import Object
from tests.stack.team import Team

HOST = "127.0.0.1"


@contextmanager
def undoing(team: Team, group: str, version: str, plural: str, patch: Object) -> Iterator[None]:
    """Merges the patch into every object of the kind that is created in the team's namespace."""
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(HOST).configure_cert(context)
    with ThreadingHTTPServer((HOST, 0), _handler(patch)) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        registration = _registration(team.namespace, server.server_port, authority)
        registration["webhooks"][0]["rules"][0] |= {
            "apiGroups": [group],
            "apiVersions": [version],
            "resources": [plural],
        }
        team.cluster.apply([registration])
        try:
            yield
        finally:
            name = registration["metadata"]["name"]
            team.cluster.kubectl("delete", "mutatingwebhookconfiguration", name)
            server.shutdown()


def _registration(namespace: str, port: int, authority: trustme.CA) -> Object:
    selector = {"matchLabels": {"kubernetes.io/metadata.name": namespace}}
    bundle = base64.b64encode(authority.cert_pem.bytes()).decode()
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": f"z-undoing-{namespace}"},
        "webhooks": [
            {
                "name": "undoing.example.com",
                "admissionReviewVersions": ["v1"],
                "clientConfig": {"url": f"https://{HOST}:{port}/", "caBundle": bundle},
                "rules": [{"operations": ["CREATE"]}],
                "namespaceSelector": selector,
                "reinvocationPolicy": "IfNeeded",
                "sideEffects": "None",
            }
        ],
    }


def _handler(patch: Object) -> type[BaseHTTPRequestHandler]:
    class Undoing(BaseHTTPRequestHandler):
        """Answers one AdmissionReview per POST."""

        def do_POST(self) -> None:
            review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            request = review["request"]
            operations = list(_operations("", request["object"], patch))
            review["response"] = {"uid": request["uid"], "allowed": True} | (
                {
                    "patchType": "JSONPatch",
                    "patch": base64.b64encode(json.dumps(operations).encode()).decode(),
                }
                if operations
                else {}
            )
            answer = json.dumps(review).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: Any) -> None:
            """Says nothing."""

    return Undoing


def _operations(path: str, found: Any, patch: Object) -> Iterator[Object]:
    """RFC 6902 operations for a merge patch; a list is entered by its index as key."""
    for key, wanted in patch.items():
        place = f"{path}/{key.replace('~', '~0').replace('/', '~1')}"
        below = found[int(key)] if isinstance(found, list) else found.get(key)
        if isinstance(wanted, dict) and below is not None:
            yield from _operations(place, below, wanted)
        elif wanted is None and below is not None:
            yield {"op": "remove", "path": place}
        elif wanted is not None and wanted != below:
            yield {"op": "add", "path": place, "value": wanted}
