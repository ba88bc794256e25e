"""One real control plane for all stack tests; each test has a namespace and a queue of its own."""

import logging
import os
import re
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from localcluster import webhook
from localcluster.cluster import Cluster, Options
from tests.stack.objects import FLAVOR
from tests.stack.team import Team


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything in this folder needs the control plane."""
    for item in items:
        if "tests/stack/" in item.nodeid:
            item.add_marker(pytest.mark.stack)


_log = logging.getLogger("localcluster")


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """The control plane with our webhook, built if need be; a failure here fails the run.

    One that `make up` started is used where LOCALCLUSTER_STATE names it: for work on one test.
    """
    if running := os.environ.get("LOCALCLUSTER_STATE"):
        cluster = Cluster(Path(running))
        cluster.apply([FLAVOR])
        yield cluster
        return
    state = tmp_path_factory.mktemp("stack") / "cluster"
    cluster = Cluster(state, say=_log.info)
    with cluster.running(Options()):
        webhook.install(cluster)
        cluster.apply([FLAVOR])
        yield cluster


@pytest.fixture
def new_team(cluster: Cluster, request: pytest.FixtureRequest) -> Callable[..., Team]:
    """Makes a team; its namespace is named after the test."""
    stem = re.sub(r"[^a-z0-9]+", "-", request.node.name.removeprefix("test_").lower())

    def create(*, gpus: int = 8) -> Team:
        name = f"{stem[:40].strip('-')}-{secrets.token_hex(2)}"
        return Team.create(cluster, name, gpus=gpus)

    return create


@pytest.fixture
def team(new_team: Callable[..., Team]) -> Team:
    """A team with a quota of eight GPUs."""
    return new_team()
