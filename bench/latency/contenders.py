"""The servers that are measured: ours, Kueue's own webhook, and the floor; each on one core."""

import http.client
import json
import ssl
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Final

from bench.latency.errors import WrongAnswer
from bench.latency.generator import HEADERS
from bench.latency.keys import give_kueue_an_elliptic_key
from bench.latency.reviews import Review
from localcluster import kueue, webhook
from localcluster.claim import ledger
from localcluster.cluster import Cluster
from localcluster.component import Component, flags
from localcluster.kubectl import Kubectl
from localcluster.layout import HOST, load_layout, unused
from localcluster.modules import PROJECT_ROOT
from localcluster.processes import Process
from webhook.http.app import MUTATE_PATH
from webhook.pki.files import write_pair
from webhook.pki.mint import Pair, mint_leaf

CERTIFICATE_MOUNT: Final = "kueue-certificates"
ONE_CORE: Final = {"GOMAXPROCS": "1"}
PORT_SETTING: Final = "KUEUE_STEPS_SERVER__PORT"
FLOOR_NAME: Final = "floor"


class Side(StrEnum):
    """Who answers."""

    OURS = "kueue-steps"
    KUEUE = "Kueue"
    FLOOR = "floor"


@dataclass(frozen=True)
class Contender:
    """A server: its process, its port, and where on it a review goes."""

    side: Side
    pid: int
    port: int
    path: Callable[[Review], str]

    def url(self, review: Review) -> str:
        """Where the load generator posts the review."""
        return f"https://{HOST}:{self.port}{self.path(review)}"

    def answer(self, review: Review) -> bytes:
        """Its answer to one review. Raises WrongAnswer."""
        # The load generator does not verify certificates either.
        context = ssl._create_unverified_context()  # noqa: S323, SLF001
        connection = http.client.HTTPSConnection(HOST, self.port, context=context, timeout=30)
        try:
            connection.request("POST", self.path(review), review.body, HEADERS)
            answer = connection.getresponse()
            content = answer.read()
        finally:
            connection.close()
        response = json.loads(content).get("response", {}) if answer.status == 200 else {}
        if response.get("uid") != review.uid or not response.get("allowed"):
            raise WrongAnswer(f"{self.side} answers {review.key} with {content[:500]!r}")
        return content


def ours(cluster: Cluster) -> Contender:
    """Our server, as it is installed."""
    process = _process(cluster, webhook.NAME)
    port = int(process.component.environment[PORT_SETTING])
    return Contender(Side.OURS, process.pid, port, lambda review: review.our_path)


def kueues(cluster: Cluster) -> Contender:
    """Kueue's manager, as it runs."""
    port = load_layout(cluster.state_dir).ports.kueue
    pid = _process(cluster, "kueue").pid
    return Contender(Side.KUEUE, pid, port, lambda review: review.kueue_path)


def make_alike(cluster: Cluster) -> None:
    """Start both servers anew: Kueue with one core's worth of Go and a key of our kind."""
    layout = load_layout(cluster.state_dir)
    for name in (CERTIFICATE_MOUNT, "kueue"):
        cluster.stop(name)
    give_kueue_an_elliptic_key(cluster)
    component = kueue.component(layout)
    cluster.spawn(replace(component, environment={**component.environment, **ONE_CORE}))
    kueue.await_webhooks(Kubectl(layout))
    cluster.restart(webhook.NAME)


def floor(cluster: Cluster, reviews: Sequence[Review], answers: Mapping[str, bytes]) -> Contender:
    """A new process that gives these answers, by the reviews' names, without looking."""
    layout = load_layout(cluster.state_dir)
    folder, (port,) = layout.folder(FLOOR_NAME), unused(1)
    queries = {review.key: str(number) for number, review in enumerate(reviews)}
    written = folder / "answers.json"
    written.write_text(
        json.dumps({query: answers[name].decode() for name, query in queries.items()})
    )
    certificate, key = folder / "tls.crt", folder / "tls.key"
    write_pair(_floor_pair(cluster), certificate, key)
    component = Component(
        name=FLOOR_NAME,
        binary=Path(sys.executable),
        arguments=(
            "-m",
            "bench.latency.floor",
            *flags(answers=written, certificate=certificate, key=key, port=port),
        ),
        environment={"PYTHONPATH": str(PROJECT_ROOT)},
        ready=f"https://{HOST}:{port}/readyz",
    )
    process = cluster.spawn(component)

    def path(review: Review) -> str:
        return f"{MUTATE_PATH}?{queries[review.key]}"

    return Contender(Side.FLOOR, process.pid, port, path)


def _floor_pair(cluster: Cluster) -> Pair:
    certificate = cluster.authority
    authority = Pair(certificate.read_bytes(), certificate.with_suffix(".key").read_bytes())
    return mint_leaf(authority, dns_names=["floor"], addresses=[HOST], now=datetime.now(UTC))


def component_of(cluster: Cluster, name: str) -> Component:
    """What a running process was started from."""
    return _process(cluster, name).component


def _process(cluster: Cluster, name: str) -> Process:
    return next(item for item in ledger(cluster.state_dir).processes() if item.name == name)
