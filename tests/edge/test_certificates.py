"""The keeper of self-managed certificates, with what an API server holds in memory."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest

from webhook.cluster.certificate_objects import Conflict, Registration, Stored, Unreachable
from webhook.cluster.certificates import REPLACEMENT_PAUSE, Certificates
from webhook.pki import trust
from webhook.pki.mint import Pair
from webhook.pki.rotation import Terms
from webhook.telemetry import Telemetry

pytestmark = pytest.mark.anyio

NOW = datetime(2026, 11, 30, tzinfo=UTC)
NAME = "kueue-steps.kueue-steps-system.svc"
TERMS = Terms(NAME, timedelta(days=365), timedelta(days=90), timedelta(seconds=5))
MUTATING = Registration("mutatingwebhookconfigurations", "a", "1", {"x": b"", "y": b""})
VALIDATING = Registration("validatingwebhookconfigurations", "a", "1", {"x": b""})


@dataclass
class Cluster:
    """Secret and registrations, with the API server's versions; `broken` fails every call."""

    stored: Stored | None = None
    held: list[Registration | str] = field(default_factory=lambda: [MUTATING, VALIDATING])
    broken: str = ""
    before_write: Callable[[], None] = field(default=lambda: None)
    writes: int = 0
    changed: list[Callable[[], None]] = field(default_factory=list)

    async def registrations(self) -> Sequence[Registration | str]:
        if self.broken:
            raise Unreachable(self.broken)
        return list(self.held)

    async def secret(self) -> Stored | None:
        return self.stored

    async def write(self, data: Mapping[str, bytes], over: Stored | None) -> None:
        self.before_write()
        if (self.stored and self.stored.version) != (over and over.version):
            raise Conflict("secrets")
        self.put(dict(data))

    async def publish(self, registration: Registration, bundle: bytes) -> None:
        if registration not in self.held:
            raise Conflict(registration.plural)
        place = self.held.index(registration)
        self.held[place] = _carrying(registration, bundle)
        self._changed()

    async def follow(self, changed: Callable[[], None], lost: Callable[[str], None]) -> None:
        self.changed.append(changed)
        await asyncio.Event().wait()

    def put(self, data: dict[str, bytes] | None) -> None:
        """Somebody writes the Secret, or deletes it."""
        self.writes += 1
        self.stored = None if data is None else Stored(f"s{self.writes}", data)
        self._changed()

    def _changed(self) -> None:
        self.writes += 1
        for tell in self.changed:
            tell()


def _carrying(registration: Registration, bundle: bytes) -> Registration:
    version = str(int(registration.version) + 1)
    return replace(
        registration, version=version, bundles=dict.fromkeys(registration.bundles, bundle)
    )


@dataclass
class Server:
    """One replica on that cluster, what it serves, and its clock."""

    cluster: Cluster
    now: datetime = NOW
    served: list[Pair] = field(default_factory=list)
    telemetry: Telemetry = field(default_factory=Telemetry)

    def __post_init__(self) -> None:
        self.certificates = Certificates(
            self.cluster,
            TERMS,
            self.served.append,
            self.telemetry,
            check_every=timedelta(seconds=10),
            clock=lambda: self.now,
        )

    async def settle(self, rounds: int = 3) -> None:
        """So many rounds, each a grace after the other."""
        for _ in range(rounds):
            await self.certificates.settle()
            self.now += TERMS.grace

    @property
    def metrics(self) -> str:
        """What it says of itself."""
        return self.telemetry.metrics().decode()


@pytest.fixture
def cluster() -> Cluster:
    """Registrations as they are applied, and no Secret."""
    return Cluster()


@pytest.fixture
def server(cluster: Cluster) -> Server:
    """One replica."""
    return Server(cluster)


async def test_a_first_start_is_ready_once_the_bundle_was_out_for_a_while(
    cluster: Cluster, server: Server
) -> None:
    """Minted and published in the first round, served after the grace, then nothing is written."""
    await server.settle(1)
    assert server.certificates.problems() == [
        "the caBundle of the registrations is not published yet"
    ]
    await server.settle(2)
    assert server.certificates.problems() == []
    assert len(server.served) == 1
    writes = cluster.writes
    await server.settle()
    assert (cluster.writes, len(server.served)) == (writes, 1)


async def test_missing_registrations_keep_nobody_from_being_ready(
    cluster: Cluster, server: Server
) -> None:
    """A registration that does not exist is no error; one that is made later gets its bundle."""
    cluster.held = ["mutatingwebhookconfigurations/a", VALIDATING]
    await server.settle()
    assert server.certificates.problems() == []
    cluster.held[0] = MUTATING
    await server.settle(1)
    assert isinstance(cluster.held[0], Registration)
    assert cluster.held[0].carries(cluster.stored.data["ca.crt"] if cluster.stored else b"")


@pytest.mark.parametrize("bundle", [b"", b"rubbish"], ids=["wiped", "foreign"])
async def test_a_spoilt_bundle_comes_back_and_the_replica_stays_ready(
    cluster: Cluster, server: Server, bundle: bytes
) -> None:
    """Only the registration that was spoilt is written, and only once."""
    await server.settle()
    right, other = cluster.held
    assert isinstance(right, Registration)
    cluster.held[0] = _carrying(right, bundle)
    await server.settle()
    assert isinstance(cluster.held[0], Registration)
    assert cluster.held[0].bundles == right.bundles
    assert cluster.held[1] == other
    assert server.certificates.problems() == []


@pytest.mark.parametrize(
    "content", [None, {}, {"tls.crt": b"x"}], ids=["deleted", "empty", "rubbish"]
)
async def test_a_spoilt_secret_is_made_anew_beside_the_old_authority(
    cluster: Cluster, server: Server, content: dict[str, bytes] | None
) -> None:
    """The old leaf is served until the new authority was out for a while."""
    await server.settle()
    cluster.put(content)
    await server.settle(1)
    assert len(server.served) == 1
    await server.settle(2)
    assert len(server.served) == 2
    assert len(trust.certificates(cluster.stored.data["ca.crt"] if cluster.stored else b"")) == 2


async def test_who_loses_the_race_takes_what_the_winner_minted(
    cluster: Cluster, server: Server
) -> None:
    """A Secret that came between read and write is a conflict; the next round reads it."""
    winner = Server(Cluster(held=[]))
    await winner.settle()
    assert isinstance(winner.cluster, Cluster)
    content = winner.cluster.stored
    assert content

    def win() -> None:
        cluster.before_write = lambda: None
        cluster.put(dict(content.data))

    cluster.before_write = win
    with pytest.raises(Conflict):
        await server.certificates.settle()
    await server.settle()
    assert [pair.certificate for pair in server.served] == [content.data["tls.crt"]]


async def test_replicas_of_different_settings_do_not_race_each_other(
    cluster: Cluster, server: Server
) -> None:
    """What can't be used is replaced once, and then not again for some seconds."""
    cluster.put({"tls.crt": b"x"})
    await server.certificates.settle()
    cluster.put({"tls.crt": b"x"})
    writes = cluster.writes
    assert await server.certificates.settle() == REPLACEMENT_PAUSE
    assert cluster.writes == writes


async def test_an_unreachable_api_server_keeps_a_first_start_from_being_ready(
    cluster: Cluster, server: Server
) -> None:
    """The reason is said in /readyz; once it answers, everything goes on by itself."""
    cluster.broken = "403 forbidden"
    task = asyncio.create_task(server.certificates.run())
    try:
        await _until(lambda: server.certificates.problems() == ["403 forbidden"])
        cluster.broken = ""
        await _until(lambda: cluster.stored is not None)
        server.now += TERMS.grace
        await _until(lambda: not server.certificates.problems() or _tick(server))
    finally:
        task.cancel()


async def test_a_certificate_that_nobody_could_renew_makes_the_replica_unready(
    cluster: Cluster, server: Server
) -> None:
    """Without an API server the last pair is served on, and its end is told."""
    await server.settle()
    cluster.broken = "503"
    server.now = NOW + timedelta(days=90)
    assert server.certificates.problems() == ["the certificate expired at 2027-02-28 00:00:00 UTC"]


async def test_metrics_tell_the_expiry_and_what_was_served(
    cluster: Cluster, server: Server
) -> None:
    """Until something is served there is no expiry: an alert must not see 1970."""
    assert "kueue_steps_certificate_expiry" not in server.metrics
    await server.settle()
    cluster.put({})
    await server.settle(1)
    sample = server.telemetry.registry.get_sample_value
    expiry = sample("kueue_steps_certificate_expiry_timestamp_seconds")
    assert expiry == (NOW + timedelta(days=90)).timestamp()
    reloads = "kueue_steps_certificate_reloads_total"
    assert sample(reloads, {"result": "served"}) == 1
    assert sample(reloads, {"result": "refused"}) == 1


async def _until(is_so: Callable[[], object]) -> None:
    async with asyncio.timeout(10):
        while not is_so():  # noqa: ASYNC110 - problems() tells nobody of a change
            await asyncio.sleep(0.05)


def _tick(server: Server) -> bool:
    server.now += TERMS.grace
    return False
