"""A webhook that keeps what it is sent, byte for byte, and allows it unchanged.

It is registered as ours is, for one namespace, and is called before ours; about Kueue's starts too.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

import msgspec

from localcluster import webhook
from localcluster.cluster import Cluster
from localcluster.layout import HOST, load_layout
from localcluster.manifests import WEBHOOK_KINDS, Object, trusting
from localcluster.webhook import NAMESPACE, Installation
from webhook.http.app import MUTATE_PATH
from webhook.http.tls import LiveTls
from webhook.pki.mint import mint_authority, mint_leaf

REGISTERED: Final = WEBHOOK_KINDS | {"Service"}

SPARED: Final = "not-kueue-on-an-unpaused-job"
"""The condition by which the API server does not even ask us about Kueue's usual starts."""


class _Request(msgspec.Struct):
    uid: str


class _Review(msgspec.Struct):
    request: _Request


class Recorder(ThreadingHTTPServer):
    """The bodies that were posted to the mutating half, in the order of their arrival."""

    daemon_threads = True

    def __init__(self, tls: LiveTls) -> None:
        super().__init__((HOST, 0), _Handler)
        self.socket = tls.context.wrap_socket(self.socket, server_side=True)
        self.bodies: list[bytes] = []

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.server_address[1])


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Keeps the body and allows the write."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path.startswith(MUTATE_PATH) and isinstance(self.server, Recorder):
            self.server.bodies.append(body)
        uid = msgspec.json.decode(body, type=_Review).request.uid
        answer = msgspec.json.encode(
            {
                "apiVersion": "admission.k8s.io/v1",
                "kind": "AdmissionReview",
                "response": {"uid": uid, "allowed": True},
            }
        )
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as it is inherited
        """Says nothing."""


@contextmanager
def recording(cluster: Cluster, namespace: str) -> Iterator[Recorder]:
    """A recorder that is registered for the namespace while the block lasts."""
    installation = Installation.beside(f"{namespace}-recorder", namespace)
    now, tls = datetime.now(UTC), LiveTls()
    authority = mint_authority("recorder", now=now)
    tls.load(mint_leaf(authority, dns_names=[f"{installation.service}.{NAMESPACE}.svc"], now=now))
    with Recorder(tls) as recorder:
        serving = threading.Thread(target=recorder.serve_forever, daemon=True)
        serving.start()
        try:
            layout = load_layout(cluster.state_dir)
            made = webhook.manifests(layout, recorder.port, installation)
            objects = trusting(made, authority.certificate)
            cluster.apply([_eager(item) for item in objects if item["kind"] in REGISTERED])
            yield recorder
        finally:
            webhook.uninstall(cluster, installation)
            recorder.shutdown()
            serving.join()


def _eager(item: Object) -> Object:
    """The object with a registration that asks about Kueue's starts too."""
    for entry in item.get("webhooks", ()):
        if conditions := entry.get("matchConditions"):
            entry["matchConditions"] = [c for c in conditions if c["name"] != SPARED]
    return item
