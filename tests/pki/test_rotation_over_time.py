"""Several replicas over simulated time: they lag, race each other and die between two writes."""

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from cryptography import x509
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from webhook.pki import trust
from webhook.pki.rotation import Replica, Terms, Unusable, advance, next_due, read

NAME = "kueue-steps.kueue-steps-system.svc"
START = datetime(2026, 11, 30, tzinfo=UTC)
TERMS = Terms(NAME, timedelta(hours=12), timedelta(hours=3), timedelta(minutes=1))
REPLICAS = 3


@dataclass
class Registration:
    """A webhook configuration."""

    bundle: bytes = b""
    version: int = 0


@dataclass
class World:
    """What the API server holds, and what time it is."""

    now: datetime = START
    data: dict[str, bytes] | None = None
    version: int = 0
    registrations: tuple[Registration, Registration] = field(
        default_factory=lambda: (Registration(), Registration())
    )
    writes: int = 0

    def write(self, data: dict[str, bytes], over: int) -> bool:
        """Replace the Secret, if it is still what was read."""
        if self.version != over:
            return False
        self.put(data)
        return True

    def put(self, data: dict[str, bytes] | None) -> None:
        """Replace the Secret in any case."""
        self.data, self.version, self.writes = data, self.version + 1, self.writes + 1

    def publish(self, index: int, bundle: bytes, over: int) -> bool:
        """Write one registration's bundle, if it is still what was read."""
        registration = self.registrations[index]
        if registration.version != over:
            return False
        registration.bundle, registration.version = bundle, over + 1
        self.writes += 1
        return True


@dataclass
class Process:
    """One replica, in the very order of `webhook.cluster.certificates`; a yield is a wait."""

    world: World
    replica: Replica = field(default_factory=Replica)
    remembered: tuple[x509.Certificate, ...] = ()
    seen: list[tuple[bytes, int]] = field(default_factory=list)

    def rounds(self) -> Generator[None, None, None]:
        """Rounds for ever."""
        while True:
            yield from self._round()
            yield

    def _round(self) -> Generator[None, None, None]:
        world = self.world
        self.seen = seen = []
        for registration in world.registrations:
            seen.append((registration.bundle, registration.version))
            yield
        data, version = world.data, world.version
        yield
        try:
            stored = read(data, TERMS) if data is not None else None
        except Unusable:
            stored = None
        carried = [item for bundle, _ in seen for item in trust.certificates(bundle)]
        holding, steps = advance(stored, [*carried, *self.remembered], TERMS, world.now)
        if steps and not world.write(holding.data(), version):
            return
        yield
        self.remembered = holding.bundle
        published = [bundle for bundle, _ in seen]
        self.replica = self.replica.look(holding, published, TERMS, world.now)
        for index, (bundle, version) in enumerate(seen):
            yield
            is_right = bundle == holding.ca_bundle
            if not is_right and not world.publish(index, holding.ca_bundle, version):
                return


@dataclass
class Fleet:
    """All replicas, and what may happen to them and around them."""

    world: World = field(default_factory=World)
    processes: list[Process] = field(default_factory=list)
    steps: list[Generator[None, None, None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        for _ in range(REPLICAS):
            process = Process(self.world)
            self.processes.append(process)
            self.steps.append(process.rounds())

    def go_on(self, which: int) -> None:
        """One replica gets as far as its next wait."""
        next(self.steps[which])

    def round(self, which: int) -> None:
        """One replica gets through a round and more, while the others lag."""
        for _ in range(12):
            self.go_on(which)

    def crash(self, which: int) -> None:
        """A replica dies wherever it is, and starts with nothing in memory."""
        self.processes[which] = Process(self.world)
        self.steps[which] = self.processes[which].rounds()

    def wait(self, minutes: int) -> None:
        """Time goes on, and nobody does anything."""
        self.world.now += timedelta(minutes=minutes)

    def spoil(self, content: dict[str, bytes] | None) -> None:
        """Somebody deletes the Secret or fills it with something else."""
        self.world.put(content)

    def check(self) -> None:
        """Every bundle verifies every leaf that is served and is not past its time."""
        for process in self.processes:
            served = process.replica.served
            if served is None or trust.out_of_time(served, self.world.now):
                continue
            for registration in self.world.registrations:
                bundle = trust.certificates(registration.bundle)
                assert trust.vouches(bundle, served.certificate, NAME, self.world.now)

    def settle(self) -> None:
        """Everybody works undisturbed for a while, in which nothing falls due."""
        while True:
            writes = self.world.writes
            for _ in range(4):
                for which in range(REPLICAS):
                    self.round(which)
                self.wait(1)
                self.check()
            due = next_due(read(self.world.data or {}, TERMS))
            if self.world.writes == writes and due > self.world.now:
                return


Event = Callable[[Fleet], None]
replicas = st.integers(0, REPLICAS - 1)
events: st.SearchStrategy[Event] = st.one_of(
    replicas.map(lambda which: lambda fleet: fleet.go_on(which)),
    replicas.map(lambda which: lambda fleet: fleet.go_on(which)),
    replicas.map(lambda which: lambda fleet: fleet.round(which)),
    replicas.map(lambda which: lambda fleet: fleet.crash(which)),
    st.integers(1, 200).map(lambda minutes: lambda fleet: fleet.wait(minutes)),
    st.sampled_from([None, {}, {"tls.crt": b"rubbish"}]).map(
        lambda content: lambda fleet: fleet.spoil(content)
    ),
)


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@example([lambda fleet: fleet.round(0), lambda fleet: fleet.wait(116)])
@given(st.lists(events, min_size=20, max_size=80))
def test_every_bundle_verifies_every_leaf_at_every_moment(script: list[Event]) -> None:
    """Whatever happens in whatever order, no API server meets a leaf that it can't verify.

    At the end everybody serves what is stored, and nothing is written any more.
    """
    fleet = Fleet()
    for event in script:
        event(fleet)
        fleet.check()
    fleet.settle()
    stored = read(fleet.world.data or {}, TERMS)
    assert {process.replica.served for process in fleet.processes} == {stored.leaf}
    assert {item.bundle for item in fleet.world.registrations} == {stored.ca_bundle}
    writes = fleet.world.writes
    for which in range(REPLICAS):
        fleet.round(which)
    assert fleet.world.writes == writes


def test_authorities_come_and_go_over_days() -> None:
    """With everybody at work, ten authorities follow each other and no bundle holds three."""
    fleet = Fleet()
    authorities: set[bytes] = set()
    while len(authorities) < 10:
        for which in range(REPLICAS):
            fleet.round(which)
            fleet.check()
        authorities.add(read(fleet.world.data or {}, TERMS).authority.certificate)
        assert len(trust.certificates(fleet.world.registrations[0].bundle)) <= 2
        fleet.wait(10)
    assert fleet.world.now < START + timedelta(hours=90)


def test_only_one_authority_survives_a_race_at_the_start() -> None:
    """All read that there is nothing, all mint, one is stored."""
    fleet = Fleet()
    for _ in range(40):
        for which in range(REPLICAS):
            fleet.go_on(which)
    fleet.settle()
    assert len(trust.certificates(fleet.world.registrations[0].bundle)) == 1


def test_who_read_long_ago_does_not_take_back_what_was_published_since() -> None:
    """A replica that saw a wiped bundle and slept through a new authority publishes nothing old."""
    fleet = Fleet()
    fleet.settle()
    for registration in fleet.world.registrations:
        registration.bundle, registration.version = b"", registration.version + 1
    fleet.processes[0].seen = []
    while len(fleet.processes[0].seen) < 2:
        fleet.go_on(0)
    for _ in range(3):  # It has read the Secret, and is about to publish.
        fleet.go_on(0)
    fleet.wait(60 * 9)
    for _ in range(3):
        fleet.round(1)
        fleet.wait(1)
    for _ in range(12):
        fleet.go_on(0)
        fleet.check()
