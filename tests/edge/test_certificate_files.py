"""Certificates that somebody else renews: files that are swapped, torn, expired and mismatched."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from webhook.pki import trust
from webhook.pki.mint import Pair, mint_authority, mint_leaf
from webhook.pki.mounted import Mounted, NoFiles

NOW = datetime(2026, 11, 30, tzinfo=UTC)
NAME = "kueue-steps.kueue-steps-system.svc"
AUTHORITY = mint_authority("somebody's authority", now=NOW - timedelta(days=400))


@dataclass
class Mount:
    """A mounted Secret, as a kubelet lays it out, and what is served and told."""

    folder: Path
    now: datetime = NOW
    served: list[Pair] = field(default_factory=list)
    told: list[datetime] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    generation: int = 0

    def __post_init__(self) -> None:
        for name in ("tls.crt", "tls.key", "ca.crt"):
            (self.folder / name).symlink_to(Path("..data") / name)
        self.source = Mounted(
            self.folder / "tls.crt",
            self.folder / "tls.key",
            NAME,
            self.served.append,
            self,
            check_every=timedelta(seconds=10),
            clock=lambda: self.now,
        )

    def swap(self, pair: Pair, authority: bytes | None = None) -> None:
        """All files at once: a new folder, and `..data` renamed to lead to it."""
        self.generation += 1
        folder = self.folder / f"..{self.generation}"
        folder.mkdir()
        (folder / "tls.crt").write_bytes(pair.certificate)
        (folder / "tls.key").write_bytes(pair.key)
        if authority:
            (folder / "ca.crt").write_bytes(authority)
        draft = self.folder / "..data_tmp"
        draft.symlink_to(folder.name)
        draft.replace(self.folder / "..data")
        self.source.look()

    def certificate_served(self, expires: datetime, *, switched: bool) -> None:
        self.told.append(expires)

    def certificate_refused(self, why: str) -> None:
        self.refused.append(why)


@pytest.fixture
def mount(tmp_path: Path) -> Mount:
    """A folder into which nothing was mounted yet."""
    return Mount(tmp_path)


def leaf(*, name: str = NAME, now: datetime = NOW, days: int = 90) -> Pair:
    """A pair of the authority."""
    return mint_leaf(AUTHORITY, dns_names=[name], now=now, lifetime=timedelta(days=days))


def test_a_missing_file_is_named(mount: Mount) -> None:
    """Nothing can be served, and the message says which file is missed."""
    with pytest.raises(NoFiles, match=r"tls\.crt: No such file"):
        mount.source.content()
    mount.source.look()
    assert mount.source.problems() == mount.refused != []


def test_a_swapped_secret_is_served(mount: Mount) -> None:
    """Another generation takes the place of the first; looking again changes nothing."""
    first, second = leaf(), leaf()
    mount.swap(first)
    mount.swap(second)
    mount.source.look()
    assert mount.served == [first, second]
    assert mount.told == [trust.expiry(first), trust.expiry(second)]
    assert mount.source.problems() == []


def _mismatched() -> Pair:
    return Pair(leaf().certificate, leaf().key)


SECP160 = b"""\
-----BEGIN EC PRIVATE KEY-----
MFECAQEEFQCxmxoozCr4RNE0NgKeIA5Pt9svO6AHBgUrgQQACKEsAyoABKqAipNs
MxtJavKUpCrBR46B5OLEtyQwP1StgGnYYAjN68yVf9Q7a58=
-----END EC PRIVATE KEY-----
"""

BAD: dict[str, tuple[Callable[[], Pair], str]] = {
    "mismatched": (_mismatched, "the certificate and the key don't belong together"),
    "expired": (
        lambda: leaf(now=NOW - timedelta(days=91)),
        "the certificate expired at 2026-11-29 00:00:00 UTC",
    ),
    "not yet valid": (
        lambda: leaf(now=NOW + timedelta(days=1)),
        "the certificate is not valid before 2026-11-30 23:55:00 UTC",
    ),
    "for another name": (lambda: leaf(name="other.svc"), f"the certificate is not for {NAME}"),
    "empty": (lambda: Pair(b"", b""), "the certificate can't be read as PEM"),
    "with a key of a kind that OpenSSL knows and we don't": (
        lambda: Pair(leaf().certificate, SECP160),
        "the key is of a kind that can't be used",
    ),
    "no key": (lambda: Pair(leaf().certificate, b"?"), "the key can't be read"),
}


@pytest.mark.parametrize(("bad", "words"), BAD.values(), ids=BAD.keys())
def test_c22_a_bad_pair_is_not_served_and_makes_the_replica_unready(
    mount: Mount, bad: Callable[[], Pair], words: str
) -> None:
    """C22: the last good pair goes on, the reason is told once, and a good pair mends it."""
    good = leaf()
    mount.swap(good)
    mount.swap(bad())
    mount.source.look()
    (problem,) = mount.source.problems()
    assert words in problem
    assert mount.refused == [problem]
    assert mount.served == [good]
    mount.swap(good)
    assert mount.source.problems() == []


def test_c22_a_pair_that_expires_while_it_is_served_makes_the_replica_unready(
    mount: Mount,
) -> None:
    """C22: nobody renewed it; from its last second on the replica says so."""
    mount.swap(leaf(days=1))
    mount.now = NOW + timedelta(days=1) - timedelta(seconds=1)
    assert mount.source.problems() == []
    mount.now += timedelta(seconds=1)
    assert mount.source.problems() == ["the certificate expired at 2026-12-01 00:00:00 UTC"]


def test_a_pair_becomes_good_in_time(mount: Mount) -> None:
    """What was not valid yet is served once it is, without another write."""
    mount.swap(leaf(now=NOW + timedelta(days=1)))
    mount.now = NOW + timedelta(days=1)
    mount.source.look()
    assert len(mount.served) == 1
    assert mount.source.problems() == []


def test_a_torn_write_is_got_over(mount: Mount) -> None:
    """Whoever writes one file after the other is caught up with."""
    first, second = leaf(), leaf()
    mount.swap(first)
    (mount.folder / "tls.crt").write_bytes(second.certificate)
    mount.source.look()
    assert mount.served == [first]
    (mount.folder / "tls.key").write_bytes(second.key)
    mount.source.look()
    assert mount.served == [first, second]
    assert mount.source.problems() == []


def test_ca_crt_must_have_signed_the_certificate(mount: Mount) -> None:
    """With a ca.crt beside it, a certificate of another authority is refused."""
    mount.swap(leaf(), AUTHORITY.certificate)
    assert mount.source.problems() == []
    mount.swap(leaf(), mint_authority("other", now=NOW).certificate)
    assert "ca.crt did not sign" in mount.source.problems()[0]


def test_a_certificate_that_trusts_itself_is_fine(mount: Mount) -> None:
    """cert-manager's self-signed issuer puts the certificate itself into ca.crt."""
    pair = leaf()
    mount.swap(pair, pair.certificate)
    assert mount.served == [pair]


def test_a_wildcard_of_the_namespace_is_fine(mount: Mount) -> None:
    """One label may be a star, as in any TLS client."""
    mount.swap(leaf(name="*.kueue-steps-system.svc"))
    assert mount.source.problems() == []
