"""Replicas go, are killed and are replaced while many people create: no create fails for it.

Two replicas with the shipped settings serve this module's namespaces, behind a balancer that does
what a Service does. Under this load the API server uses all of its connections, so that a replica
is left by all of them soon; the edge tests show what happens to connections that stay idle.
"""

import os
import secrets
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any

import httpx
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal

from localcluster import webhook
from localcluster.cluster import Cluster
from localcluster.kubectl import Kubectl
from localcluster.layout import HOST, load_layout, unused
from localcluster.manifests import bundle
from localcluster.processes import Process
from tests.stack.balancer import Backend, Balancer
from tests.stack.objects import training_runtime, trainjob
from tests.stack.team import Team, eventually
from tests.stack.traffic import Traffic

BEFORE, AFTER = 2.0, 5.5
"""Seconds of traffic before something happens to a replica, and after it."""

LONGEST = 110.0
"""A drain's longest time, and some more."""

ENOUGH = 100
"""Creates that make a claim about traffic."""

pytestmark = pytest.mark.alone


@dataclass(frozen=True)
class Replica:
    """One process of the module's own installation, and its place behind the Service."""

    process: Process
    backend: Backend

    def signal(self, number: signal.Signals) -> None:
        """Sends it a signal, and does not wait for anything."""
        os.kill(self.process.pid, number)

    def exit_code(self) -> int | None:
        """How it ended; None while it runs. To be asked until it isn't None, and by one only."""
        pid, status = os.waitpid(self.process.pid, os.WNOHANG)
        return os.waitstatus_to_exitcode(status) if pid else None

    def has_left(self) -> bool:
        """Has it ended as a program does that was asked to?"""
        code = self.exit_code()
        assert code in {None, 0}, f"it ended with {code}"
        return code == 0

    @property
    def reviews(self) -> int:
        """How many reviews it has answered."""
        return self._count("")

    @property
    def refusals(self) -> int:
        """How many found no place."""
        return self._count('reason="HTTP503"')

    @property
    def readiness(self) -> tuple[int, str]:
        """What its probe would hear."""
        answer = self._get("/readyz")
        return answer.status_code, answer.text.strip()

    def _count(self, label: str) -> int:
        lines = self._get("/metrics").text.splitlines()
        counts = [line for line in lines if line.startswith(REVIEWS) and label in line]
        return sum(int(float(line.rpartition(" ")[2])) for line in counts)

    def _get(self, path: str) -> httpx.Response:
        return httpx.get(f"http://{HOST}:{self.backend.operations}{path}", trust_env=False)


REVIEWS = "kueue_steps_admission_requests_total{"


@dataclass
class Service:
    """An installation beside the shared one, with as many replicas as a test starts."""

    cluster: Cluster
    installation: webhook.Installation
    portal: BlockingPortal
    balancer: Balancer
    replicas: list[Replica] = field(default_factory=list)

    def start(self) -> Replica:
        """One replica more, ready and known to the balancer."""
        layout = load_layout(self.cluster.state_dir)
        text = webhook.configuration(Kubectl(layout).render(webhook.BASE))
        port, operations = unused(2)
        component = webhook.component(
            layout, text, port, operations, installation=self.installation
        )
        name = f"{self.installation.name}-{len(self.replicas)}"
        process = self.cluster.spawn(replace(component, name=name))
        replica = Replica(process, Backend(port, operations))
        self.replicas.append(replica)
        self.portal.call(self.balancer.backends.append, replica.backend)
        return replica

    def end(self) -> None:
        """Ends all replicas, those too that still wait for the API server's idle connections."""
        for replica in self.replicas:
            self.cluster.kill(replica.process.name)


@contextmanager
def _running(portal: BlockingPortal, work: Callable[[], Any]) -> Iterator[None]:
    """Something that goes on in the portal's event loop during the block."""
    task: Future[Any] = portal.start_task_soon(work)
    try:
        yield
    finally:
        task.cancel()
        with suppress(CancelledError):
            task.result()


@pytest.fixture
def service(cluster: Cluster, team: Team, request: pytest.FixtureRequest) -> Iterator[Service]:
    """Two replicas behind a Service, whom the API server asks about the team's TrainJobs.

    A test's parameter are settings other than the shipped ones.
    """
    settings: dict[str, str] = getattr(request, "param", {})
    name = f"serving-{secrets.token_hex(2)}"
    mine = webhook.Installation.beside(name, team.namespace, **settings)
    layout = load_layout(cluster.state_dir)
    (port,) = unused(1)
    objects = bundle(webhook.manifests(layout, port, mine))
    with start_blocking_portal("asyncio", {"use_uvloop": True}) as portal:
        balancer = Balancer(port)
        service = Service(cluster, mine, portal, balancer)
        try:
            with _running(portal, balancer.run):
                cluster.apply(objects.objects)
                cluster.apply(objects.webhooks)
                service.start()
                service.start()
                yield service
        finally:
            service.end()
            webhook.uninstall(cluster, mine)


@pytest.fixture
def users(team: Team) -> Traffic:
    """Creates of a TrainJob that is stepped; none is made yet."""
    return Traffic(
        team.cluster.kubeconfig(),
        f"/apis/trainer.kubeflow.org/v1alpha1/namespaces/{team.namespace}/trainjobs",
        trainjob("work", team.namespace, team.label),
    )


@pytest.fixture
def traffic(team: Team, service: Service, users: Traffic) -> Iterator[Traffic]:
    """Those creates, which have gone on for a while."""
    team.apply([training_runtime("steps", team.namespace, gpus=8, download="1s", train="1s")])
    with _running(service.portal, users.run):
        eventually(lambda: _is_spread(service), "both replicas are asked")
        time.sleep(BEFORE)
        yield users


def _is_spread(service: Service) -> bool:
    return all(replica.reviews > 20 for replica in service.replicas)


def test_sigterm_to_one_of_two_fails_no_create(service: Service, traffic: Traffic) -> None:
    """It is not ready at once, answers what comes on connections that stand, and leaves with 0."""
    leaving, staying = service.replicas
    told = time.monotonic()
    answered = leaving.reviews
    leaving.signal(signal.SIGTERM)
    eventually(lambda: leaving.readiness == (503, "draining"), "it is draining")
    eventually(lambda: leaving.reviews > answered, "it answers on the connections that it has")
    time.sleep(AFTER)
    _went_on(traffic, told)
    eventually(leaving.has_left, "nobody needs it any more", within=LONGEST)
    _nothing_failed(traffic, leaving, staying)


def test_a_rolling_change_of_both_fails_no_create(service: Service, traffic: Traffic) -> None:
    """New replicas come first and old ones go, one after the other, as the Deployment does it."""
    begun = time.monotonic()
    old = list(service.replicas)
    for leaving in old:
        service.start()
        leaving.signal(signal.SIGTERM)
        time.sleep(1)
    time.sleep(AFTER)
    _went_on(traffic, begun)
    for leaving in old:
        eventually(leaving.has_left, "nobody needs it any more", within=LONGEST)
    assert all(replica.reviews > 20 for replica in service.replicas[2:])
    _nothing_failed(traffic, *service.replicas)


def test_sigkill_of_one_of_two_fails_only_what_was_on_its_way_to_it(
    service: Service, traffic: Traffic
) -> None:
    """At most one create for each connection that it had, and each dial before it was noticed.

    A review that is being written as the connection breaks is lost too, and nobody counts it.
    """
    killed, staying = service.replicas
    connected = killed.backend.connections
    begun = time.monotonic()
    killed.signal(signal.SIGKILL)
    eventually(lambda: not killed.backend.is_ready, "the endpoint is gone")
    gone = time.monotonic()
    time.sleep(AFTER)
    _went_on(traffic, begun)
    assert len(traffic.problems) <= connected + killed.backend.refused, str(traffic)
    assert all("failed calling webhook" in problem for problem in traffic.problems)
    assert [create.problem for create in traffic.since(gone) if create.problem] == []
    assert (staying.backend.cut, staying.backend.refused) == (0, 0)
    print(f"{traffic}; {connected} connections broke")  # noqa: T201 - what the run reached


def test_a_replica_that_nobody_asks_leaves_after_the_quiet_time(service: Service) -> None:
    """SIGTERM without connections: exit code 0, some five seconds later."""
    replica = service.replicas[0]
    eventually(lambda: replica.backend.connections == 0, "nobody is connected", within=LONGEST)
    replica.signal(signal.SIGTERM)
    eventually(replica.has_left, "it has left", within=30)


NARROW = {"SERVER__MAX_CONCURRENT_REVIEWS": "1", "LOOKUPS__CACHE_SECONDS": "0"}


@pytest.mark.parametrize("service", [NARROW], indirect=True, ids=["one place"])
def test_a_review_that_finds_no_place_is_sent_again(
    team: Team, service: Service, users: Traffic
) -> None:
    """API servers take a 503 with Retry-After for what it is: the create takes a second longer."""
    team.apply([training_runtime("steps", team.namespace, gpus=8, download="1s", train="1s")])

    def finds_no_place() -> bool:
        service.portal.call(users.burst, 4)
        return sum(replica.refusals for replica in service.replicas) > 0

    eventually(finds_no_place, "a review finds no place")
    assert users.problems == [], f"{users}: {users.problems[:3]}"
    assert max(create.seconds for create in users.made) > 1


def _went_on(traffic: Traffic, since: float) -> None:
    eventually(lambda: len(traffic.since(since)) > ENOUGH, f"more than {ENOUGH} creates")


def _nothing_failed(traffic: Traffic, *replicas: Replica) -> None:
    assert traffic.problems == [], f"{traffic}: {traffic.problems[:3]}"
    assert [(item.backend.cut, item.backend.refused) for item in replicas] == [(0, 0)] * len(
        replicas
    )
    print(traffic)  # noqa: T201 - what the run reached
