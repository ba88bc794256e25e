"""One real control plane for all stack tests; each test has a namespace and a queue of its own."""

import re
import secrets
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field

import pytest

from localcluster.cluster import Cluster
from localcluster.invariants.violation import Invariant, Violation
from localcluster.invariants.watcher import Watcher
from tests.stack import shared
from tests.stack.team import Team


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything in this folder needs the control plane; what must be alone comes last."""
    for item in items:
        if "tests/stack/" in item.nodeid:
            item.add_marker(pytest.mark.stack)
    items.sort(key=lambda item: item.get_closest_marker("alone") is not None)


@pytest.fixture(scope="session")
def cluster() -> Cluster:
    """The control plane with our webhook; a failure here fails the run.

    One that `make up` started is used where LOCALCLUSTER_STATE names it: for work on one test.
    """
    return shared.control_plane()


@pytest.fixture(autouse=True)
def turn(request: pytest.FixtureRequest) -> Iterator[None]:
    """Tests run side by side, but for those that are marked `alone`."""
    with shared.turn(alone=request.node.get_closest_marker("alone") is not None):
        yield


@dataclass
class Court:
    """What this worker knows of violations in its tests' namespaces.

    `forgiven` are pairs of a namespace and an invariant.
    """

    watcher: Watcher
    told: set[Violation] = field(default_factory=set)
    forgiven: set[tuple[str, Invariant]] = field(default_factory=set)
    namespaces: set[str] = field(default_factory=set)

    def news(self, namespaces: Collection[str]) -> list[str]:
        """The sentences that no test was told of yet and that are not forgiven."""
        found = [item for item in self.watcher.violations(namespaces) if item not in self.told]
        self.told.update(found)
        return [item.sentence for item in found if not self._is_forgiven(item)]

    def _is_forgiven(self, item: Violation) -> bool:
        return any((place, item.invariant) in self.forgiven for place in item.namespaces)


@pytest.fixture(scope="session")
def court(cluster: Cluster) -> Iterator[Court]:
    """One watcher over the whole cluster; what it finds after a test has ended fails the run."""
    with Watcher(cluster.kubeconfig(), cluster.audit_log) as watcher:
        court = Court(watcher)
        yield court
        late = court.news(court.namespaces)
    assert not late, "\n".join(["found after its test had ended:", *late])


@pytest.fixture
def watcher(court: Court) -> Watcher:
    """The watcher itself, for tests of it."""
    return court.watcher


@pytest.fixture
def namespaces() -> list[str]:
    """The namespaces of a test, as far as teams were made in it."""
    return []


@pytest.fixture(autouse=True)
def invariants_hold(
    turn: None, court: Court, namespaces: list[str], request: pytest.FixtureRequest
) -> Iterator[None]:
    """A test in whose namespaces an invariant was violated fails, whatever else it found."""
    yield
    court.namespaces.update(namespaces)
    exempt = {item for mark in request.node.iter_markers("exempt") for item in mark.args}
    court.forgiven |= {(place, item) for place in namespaces for item in exempt}
    court.watcher.settle(namespaces)
    news = court.news(namespaces) if namespaces else []
    assert not news, "\n".join(["invariants did not hold:", *news])


@pytest.fixture
def new_team(
    turn: None, cluster: Cluster, namespaces: list[str], request: pytest.FixtureRequest
) -> Callable[..., Team]:
    """Makes a team; its namespace is named after the test."""
    stem = re.sub(r"[^a-z0-9]+", "-", request.node.name.removeprefix("test_").lower())

    def create(*, gpus: int = 8) -> Team:
        name = f"{stem[:40].strip('-')}-{secrets.token_hex(2)}"
        namespaces.append(name)
        return Team.create(cluster, name, gpus=gpus)

    return create


@pytest.fixture
def team(new_team: Callable[..., Team]) -> Team:
    """A team with a quota of eight GPUs."""
    return new_team()
