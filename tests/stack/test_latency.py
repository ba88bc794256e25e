"""The measurement of latency works: what it records is answered by our server and by Kueue's."""

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.latency import contenders, generator
from bench.latency.contenders import Side
from bench.latency.generator import Load
from bench.latency.plan import Cell, Group
from bench.latency.recording import record
from bench.latency.reviews import Review, Size, What
from bench.latency.session import Range
from localcluster.cluster import Cluster

RECORDED = (What.JOB_CREATE, Size.SMALL)
# The shared server's log is read by others, line by line: let it be a few hundred lines.
CELL = Cell(Group.USUAL, "smoke", (RECORDED,), Load(1, 0.4), warm_up=0)


@pytest.fixture
def reviews(cluster: Cluster, namespaces: list[str]) -> Iterator[dict[str, Review]]:
    """One review, with its owners alive while the test lasts."""
    namespace = f"latency-{secrets.token_hex(2)}"
    namespaces.append(namespace)
    yield record(cluster, namespace, [RECORDED])
    cluster.kubectl("delete", "trainjobs", "--all", "-n", namespace)


def test_both_servers_answer_what_the_api_server_posted(
    cluster: Cluster, reviews: dict[str, Review], tmp_path: Path
) -> None:
    """Recorder, load generator, both servers and the meters work together."""
    (review,) = reviews.values()
    assert b'"kind":"Job"' in review.body
    servers = {Side.OURS: contenders.ours(cluster), Side.KUEUE: contenders.kueues(cluster)}
    vegeta = generator.binary(say=print)
    fired = Range(vegeta, tmp_path, reviews, servers)
    answers = {side: server.answer(review) for side, server in servers.items()}
    assert b'"patch"' in answers[Side.OURS]
    measured = [fired.measure(CELL, side, repeat=0) for side in servers]
    assert [item.denied for item in measured] == [0, 0]
    assert all(item.figures.reviews > 0 and item.memory_peak > 0 for item in measured)
