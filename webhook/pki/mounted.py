"""Certificates that somebody else renews: files of a mounted Secret, read again and again.

A kubelet swaps all files of a Secret at once (the symlink `..data`), other writers one after the
other. So a pair that does not fit is no disaster: the one before goes on being served, the replica
says that it is not ready and why, and looks again.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final, Protocol

from webhook.pki import trust
from webhook.pki.mint import Pair

TRIES: Final = 5
SOON: Final = timedelta(seconds=1)


class Witness(Protocol):
    """Told of what happens to certificates."""

    def certificate_served(self, expires: datetime, *, switched: bool) -> None:
        """Handshakes get this leaf from now on."""
        ...

    def certificate_refused(self, why: str) -> None:
        """The files can't be served."""
        ...


class NoFiles(Exception):
    """A file can't be read; the message names it."""


@dataclass(frozen=True)
class Content:
    """What the files hold; `authority` is ca.crt beside the certificate, where there is one."""

    pair: Pair
    authority: bytes | None


class Mounted:
    """The pair of two files."""

    def __init__(
        self,
        certificate: Path,
        key: Path,
        dns_name: str,
        serve: Callable[[Pair], None],
        witness: Witness,
        *,
        check_every: timedelta,
        clock: Callable[[], datetime],
    ) -> None:
        self._certificate = certificate
        self._key = key
        self._dns_name = dns_name
        self._serve = serve
        self._witness = witness
        self._check_every = check_every
        self._clock = clock
        self._served: Pair | None = None
        self._refused = ""

    async def run(self) -> None:
        """Looks at the files until cancelled."""
        while True:
            pause = min(SOON, self._check_every) if self._refused else self._check_every
            await asyncio.sleep(pause.total_seconds())
            self.look()

    def look(self) -> None:
        """Serves what the files hold now, if it can be served and is new."""
        try:
            content = self.content()
        except NoFiles as error:
            self._refuse(str(error))
            return
        authorities = trust.certificates(content.authority) if content.authority else None
        words = trust.problem(content.pair, self._dns_name, self._clock(), authorities)
        if words:
            self._refuse(f"{self._certificate}: {words}")
            return
        if content.pair != self._served:
            try:
                self._serve(content.pair)
            except OSError as error:  # OpenSSL is stricter: it wants 2048 bits of an RSA key.
                self._refuse(f"{self._certificate}: OpenSSL does not take it: {error}")
                return
            self._served = content.pair
            self._witness.certificate_served(trust.expiry(content.pair), switched=False)
        self._refused = ""

    def content(self) -> Content:
        """The files, of one writing if possible. Raises NoFiles."""
        before = self._read()
        for _ in range(TRIES):
            if (now := self._read()) == before:
                break
            before = now
        return before

    def problems(self) -> Sequence[str]:
        """Why no review should be sent here, in plain words; empty if none is known."""
        expired = trust.out_of_time(self._served, self._clock()) if self._served else None
        return [words for words in (self._refused, expired) if words]

    def _read(self) -> Content:
        try:
            pair = Pair(self._certificate.read_bytes(), self._key.read_bytes())
        except OSError as error:
            raise NoFiles(f"{error.filename}: {error.strerror}") from error
        authority = self._certificate.with_name("ca.crt")
        try:
            return Content(pair, authority.read_bytes())
        except OSError:
            return Content(pair, None)

    def _refuse(self, why: str) -> None:
        if why != self._refused:
            self._witness.certificate_refused(why)
        self._refused = why
