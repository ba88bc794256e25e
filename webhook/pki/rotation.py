"""What the Secret has to hold next, and when a replica may serve what it holds.

Pure: no clock and no I/O; time and everything that was read is passed in, values come out. Any
number of replicas follow these rules at once, without a leader, and each may lag or die between
two writes:

- `advance` says what the Secret must hold; it is written only over the version that was read.
- The bundle of the Secret (ca.crt) is what the registrations are to carry. It takes in every
  authority of ours that a registration carries already, and an authority leaves it when it expires,
  which is when no leaf of it can be valid any longer. So no write takes away what a replica serves
  (of the ten newest authorities).
- `Replica.look` goes over to the Secret's leaf only once every registration verifies it, and has
  done so for a while (API servers learn of a change by a watch).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Final

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from webhook.pki import trust
from webhook.pki.mint import CLOCK_SKEW, Pair, mint_authority, mint_leaf
from webhook.pki.trust import Certificates

AUTHORITY: Final = "kueue-steps authority"
LONGEST_BUNDLE: Final = 10
KEYS: Final = ("tls.crt", "tls.key", "ca.crt", "ca.key")

_LONG_AGO: Final = datetime.min.replace(tzinfo=UTC)


class Unusable(Exception):
    """A Secret can't be gone on with; the message says why, in plain words."""


class Step(StrEnum):
    """What a new content of the Secret means."""

    MINTED = "minted"
    AUTHORITY_RENEWED = "authority renewed"
    LEAF_RENEWED = "leaf renewed"
    AUTHORITY_DROPPED = "authority dropped"
    AUTHORITY_ADOPTED = "authority adopted"


@dataclass(frozen=True)
class Terms:
    """For which name, and for how long: `grace` is what API servers get to notice a bundle."""

    dns_name: str
    authority_lifetime: timedelta
    leaf_lifetime: timedelta
    grace: timedelta


@dataclass(frozen=True)
class Holding:
    """The content of the Secret: an authority that signs, its leaf, and all that is trusted."""

    authority: Pair
    leaf: Pair
    bundle: Certificates

    @property
    def authority_certificate(self) -> x509.Certificate:
        """The certificate of the authority that signs."""
        return trust.certificates(self.authority.certificate)[0]

    @property
    def ca_bundle(self) -> bytes:
        """What the registrations are to carry (PEM)."""
        return trust.as_pem(self.bundle)

    def data(self) -> dict[str, bytes]:
        """The data of the Secret."""
        content = (self.leaf.certificate, self.leaf.key, self.ca_bundle, self.authority.key)
        return dict(zip(KEYS, content, strict=True))


def read(data: Mapping[str, bytes], terms: Terms) -> Holding:
    """What a Secret holds. Raises Unusable; a certificate whose time is over is usable still."""
    if missing := [key for key in KEYS if not data.get(key)]:
        raise Unusable(f"it has no {', '.join(missing)}")
    leaf = Pair(data["tls.crt"], data["tls.key"])
    bundle = trust.newest_first(trust.certificates(data["ca.crt"]))
    if words := trust.mismatch(leaf):
        raise Unusable(words)
    for certificate in bundle:
        authority = Pair(trust.as_pem([certificate]), data["ca.key"])
        if trust.mismatch(authority) is None:
            break
    else:
        raise Unusable("ca.crt holds no certificate that belongs to ca.key")
    if not is_ours(certificate):
        raise Unusable(f"its authority is not {AUTHORITY!r} with a P-256 key")
    if not trust.vouches((certificate,), leaf.certificate, terms.dns_name, _middle(leaf)):
        raise Unusable(f"its authority does not verify its certificate for {terms.dns_name}")
    return Holding(authority, leaf, bundle)


def advance(
    stored: Holding | None, known: Sequence[x509.Certificate], terms: Terms, now: datetime
) -> tuple[Holding, tuple[Step, ...]]:
    """What the Secret must hold now, and what that changes: nothing, where nothing is due.

    `known` are certificates that registrations carry or that a replica remembers; those of our
    authorities among them stay trusted.
    """
    ours = [item for item in known if is_ours(item)]
    if stored is None:
        return _minted(ours, terms, now), (Step.MINTED,)
    if _is_due(stored.authority_certificate, now):
        return _minted([*stored.bundle, *ours], terms, now), (Step.AUTHORITY_RENEWED,)
    steps: list[Step] = []
    leaf, own = stored.leaf, stored.authority_certificate
    bundle = _alive(own, [*stored.bundle, *ours], now)
    if _is_due(trust.certificates(leaf.certificate)[0], now):
        leaf = _leaf(stored.authority, terms, now)
        steps.append(Step.LEAF_RENEWED)
    if set(bundle) - set(stored.bundle):
        steps.append(Step.AUTHORITY_ADOPTED)
    if set(stored.bundle) - set(bundle):
        steps.append(Step.AUTHORITY_DROPPED)
    return (replace(stored, leaf=leaf, bundle=bundle) if steps else stored), tuple(steps)


def next_due(stored: Holding) -> datetime:
    """When `advance` will have something to do, if nothing else happens."""
    leaf = trust.certificates(stored.leaf.certificate)[0]
    renewals = [_renewal(leaf), _renewal(stored.authority_certificate)]
    return min(*renewals, *(item.not_valid_after_utc for item in stored.bundle))


@dataclass(frozen=True)
class Replica:
    """What one replica serves, and since when it sees the stored authority in every bundle."""

    served: Pair | None = None
    authority: bytes | None = None
    out_since: datetime | None = None

    def look(
        self, stored: Holding, published: Sequence[bytes], terms: Terms, now: datetime
    ) -> "Replica":
        """This replica after it saw what is stored and what each registration carries (PEM).

        A registration that does not exist is not among `published`.
        """
        bundles = [trust.certificates(bundle) for bundle in published]
        since = self._out_since(stored, bundles, terms, now)
        served = self.served
        if since is not None and stored.leaf != served:
            waited = now - since >= terms.grace
            lost = served is not None and not _verified(bundles, served, terms, now)
            served = stored.leaf if waited or lost else served
        return Replica(served, stored.authority.certificate, since)

    def _out_since(
        self, stored: Holding, bundles: Sequence[Certificates], terms: Terms, now: datetime
    ) -> datetime | None:
        if not _verified(bundles, stored.leaf, terms, now):
            return None
        if self.authority is None:  # It was out before this replica began to look.
            return _LONG_AGO
        same = self.authority == stored.authority.certificate
        return self.out_since if same and self.out_since is not None else now


def is_ours(certificate: x509.Certificate) -> bool:
    """Is it an authority that some replica minted?"""
    names = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    try:
        key = certificate.public_key()
    except (UnsupportedAlgorithm, ValueError):
        return False
    return (
        [name.value for name in names] == [AUTHORITY]
        and certificate.issuer == certificate.subject
        and isinstance(key, ec.EllipticCurvePublicKey)
        and isinstance(key.curve, ec.SECP256R1)
    )


def _minted(trusted: Sequence[x509.Certificate], terms: Terms, now: datetime) -> Holding:
    authority = mint_authority(AUTHORITY, now=now, lifetime=terms.authority_lifetime)
    (own,) = trust.certificates(authority.certificate)
    return Holding(authority, _leaf(authority, terms, now), _alive(own, trusted, now))


def _leaf(authority: Pair, terms: Terms, now: datetime) -> Pair:
    """No leaf outlives its authority."""
    lifetime = min(terms.leaf_lifetime, trust.expiry(authority) - now)
    return mint_leaf(authority, dns_names=[terms.dns_name], now=now, lifetime=lifetime)


def _alive(
    own: x509.Certificate, others: Sequence[x509.Certificate], now: datetime
) -> Certificates:
    alive = [item for item in others if item != own and not trust.is_expired(item, now)]
    return trust.newest_first([own, *trust.newest_first(alive)[: LONGEST_BUNDLE - 1]])


def _verified(bundles: Sequence[Certificates], leaf: Pair, terms: Terms, now: datetime) -> bool:
    if not bundles:
        return trust.out_of_time(leaf, now) is None
    return all(trust.vouches(item, leaf.certificate, terms.dns_name, now) for item in bundles)


def _is_due(certificate: x509.Certificate, now: datetime) -> bool:
    return not certificate.not_valid_before_utc <= now < _renewal(certificate)


def _renewal(certificate: x509.Certificate) -> datetime:
    return trust.two_thirds(certificate, CLOCK_SKEW)


def _middle(leaf: Pair) -> datetime:
    """A time within the life of a leaf, and of the authority that outlives it."""
    certificate = trust.certificates(leaf.certificate)[0]
    begin, end = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    return begin + (end - begin) / 2
