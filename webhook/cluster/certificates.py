"""The certificates that the server mints for itself: kept in a Secret, trusted by registrations.

Every replica runs this. What is due is decided by `webhook.pki.rotation`; here things are read,
written and read again. A registration is read before the Secret and written only in the version
that was read, so a replica that lags can't take back what another one has published since.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, Protocol

from webhook.cluster.certificate_objects import Conflict, Registration, Stored, Unreachable
from webhook.pki import rotation, trust
from webhook.pki.mint import Pair
from webhook.pki.rotation import Holding, Replica, Terms, Unusable

ROUND_SECONDS: Final = 0.2
TRY_AGAIN: Final = timedelta(seconds=1)
REPLACEMENT_PAUSE: Final = timedelta(seconds=5)
"""Two replicas of different settings would replace each other's Secret as fast as they can."""


class Witness(Protocol):
    """Told of what happens to certificates."""

    def certificate_stepped(self, step: str) -> None:
        """The content of the Secret was changed by this replica."""
        ...

    def certificate_served(self, expires: datetime, *, switched: bool) -> None:
        """Handshakes get this leaf from now on; `switched`: one of another authority."""
        ...

    def certificate_refused(self, why: str) -> None:
        """What is stored can't be used."""
        ...

    def bundle_published(self, registration: str) -> None:
        """The caBundle of a registration was put right."""
        ...

    def registration_missing(self, registration: str) -> None:
        """A registration does not exist."""
        ...

    def certificates_lost(self, why: str) -> None:
        """The API server can't be asked; what is served goes on being served."""
        ...


class Objects(Protocol):
    """Where certificates are kept: `CertificateObjects`."""

    async def registrations(self) -> Sequence[Registration | str]: ...  # noqa: D102
    async def secret(self) -> Stored | None: ...  # noqa: D102
    async def write(self, data: Mapping[str, bytes], over: Stored | None) -> None: ...  # noqa: D102
    async def publish(self, registration: Registration, bundle: bytes) -> None: ...  # noqa: D102
    async def follow(  # noqa: D102
        self, changed: Callable[[], None], lost: Callable[[str], None]
    ) -> None: ...


class Certificates:
    """One replica's part in keeping them, and what it serves."""

    def __init__(
        self,
        objects: Objects,
        terms: Terms,
        serve: Callable[[Pair], None],
        witness: Witness,
        *,
        check_every: timedelta,
        clock: Callable[[], datetime],
    ) -> None:
        self._objects = objects
        self._terms = terms
        self._serve = serve
        self._witness = witness
        self._check_every = check_every
        self._clock = clock
        self._stirred = asyncio.Event()
        self._replica = Replica()
        self._remembered: trust.Certificates = ()
        self._replaced: datetime | None = None
        self._missing: set[str] = set()
        self._trouble = ""

    async def run(self) -> None:
        """Keeps them until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._objects.follow(self._stirred.set, self._lost))
            while True:
                self._stirred.clear()
                pause = await self._round()
                await asyncio.sleep(ROUND_SECONDS)
                try:
                    async with asyncio.timeout(max(0.0, pause.total_seconds())):
                        await self._stirred.wait()
                except TimeoutError:
                    continue

    def problems(self) -> Sequence[str]:
        """Why no review should be sent here, in plain words; empty if none is known."""
        if self._replica.served is None:
            return [self._trouble or "the caBundle of the registrations is not published yet"]
        words = trust.out_of_time(self._replica.served, self._clock())
        return [" ".join(filter(None, (words, self._trouble)))] if words else []

    async def settle(self) -> timedelta:
        """One round: read, write what is due, serve what may be served; how long to rest then."""
        found = await self._objects.registrations()
        registrations = [item for item in found if isinstance(item, Registration)]
        self._tell_missing({item for item in found if isinstance(item, str)})
        stored = await self._objects.secret()
        if (holding := await self._advanced(stored, registrations)) is None:
            return REPLACEMENT_PAUSE
        self._remembered = holding.bundle
        self._look(holding, registrations)
        for registration in registrations:
            if not registration.carries(holding.ca_bundle):
                await self._objects.publish(registration, holding.ca_bundle)
                self._witness.bundle_published(str(registration))
                self._stirred.set()
        return self._rest(holding)

    async def _round(self) -> timedelta:
        try:
            pause = await self.settle()
        except Conflict:
            return timedelta()
        except Unreachable as error:
            self._lost(str(error))
            return min(self._check_every, TRY_AGAIN)
        except Exception as error:  # noqa: BLE001 - reviews must not end with a bug in here
            self._lost(repr(error))
            return min(self._check_every, TRY_AGAIN)
        self._trouble = ""
        return pause

    async def _advanced(
        self, stored: Stored | None, registrations: Sequence[Registration]
    ) -> Holding | None:
        """What is stored now, after what was due is written; None while that has to wait."""
        now, before = self._clock(), None
        if stored is not None:
            try:
                before = rotation.read(stored.data, self._terms)
            except Unusable as problem:
                if self._replaced and now - self._replaced < REPLACEMENT_PAUSE:
                    return None
                self._replaced = now
                self._witness.certificate_refused(f"the Secret is replaced: {problem}")
        carried = [
            certificate
            for registration in registrations
            for bundle in registration.bundles.values()
            for certificate in trust.certificates(bundle)
        ]
        known = [*carried, *self._remembered]
        holding, steps = rotation.advance(before, known, self._terms, now)
        if steps:
            await self._objects.write(holding.data(), stored)
        for step in steps:
            self._witness.certificate_stepped(step)
        return holding

    def _look(self, holding: Holding, registrations: Sequence[Registration]) -> None:
        published = [
            bundle for registration in registrations for bundle in registration.bundles.values()
        ]
        before = self._replica
        after = before.look(holding, published, self._terms, self._clock())
        served = after.served
        if served is not None and served != before.served:
            self._serve(served)
            self._witness.certificate_served(
                trust.expiry(served),
                switched=before.served is not None
                and not trust.issued_by(before.served, holding.authority_certificate),
            )
        self._replica = after

    def _rest(self, holding: Holding) -> timedelta:
        now = self._clock()
        rests = [self._check_every, rotation.next_due(holding) - now]
        if self._replica.out_since and self._replica.served != holding.leaf:
            rests.append(self._replica.out_since + self._terms.grace - now)
        return min(rests)

    def _tell_missing(self, missing: set[str]) -> None:
        for name in missing - self._missing:
            self._witness.registration_missing(name)
        self._missing = missing

    def _lost(self, why: str) -> None:
        if why != self._trouble:
            self._witness.certificates_lost(why)
        self._trouble = why
