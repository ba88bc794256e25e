"""Whether a pair can be served and who verifies it, in plain words.

Pure: the caller says what time it is. Chains are checked by cryptography's x509.verification, as a
strict client would; what only has to be put into words (a date, a name) is looked at here too.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import TypeAlias

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.hazmat.primitives.serialization import load_pem_private_key as load_key
from cryptography.x509.verification import PolicyBuilder, Store, VerificationError

from webhook.pki.mint import Pair

Certificates: TypeAlias = tuple[x509.Certificate, ...]


def certificates(pem: bytes) -> Certificates:
    """Every certificate in this PEM; none where there is none or one can't be read."""
    try:
        return tuple(x509.load_pem_x509_certificates(pem))
    except ValueError:
        return ()


def as_pem(bundle: Iterable[x509.Certificate]) -> bytes:
    """The certificates one after another."""
    return b"".join(certificate.public_bytes(Encoding.PEM) for certificate in bundle)


def expiry(pair: Pair) -> datetime:
    """When the certificate of a pair ends."""
    return certificates(pair.certificate)[0].not_valid_after_utc


def is_expired(certificate: x509.Certificate, now: datetime) -> bool:
    """Is its time over?"""
    return certificate.not_valid_after_utc <= now


def vouches(authorities: Certificates, leaf: bytes, dns_name: str, now: datetime) -> bool:
    """Does one of the authorities verify the leaf (with its intermediates) for the name, now?"""
    chain = certificates(leaf)
    if not chain or not authorities:
        return False
    policy = PolicyBuilder().store(Store(list(authorities))).time(now)
    try:
        verifier = policy.build_server_verifier(x509.DNSName(dns_name))
        verifier.verify(chain[0], list(chain[1:]))
    except VerificationError:
        return False
    return True


def mismatch(pair: Pair) -> str | None:
    """What is wrong with a pair at any time; None if certificate and key belong together."""
    chain = certificates(pair.certificate)
    if not chain:
        return "the certificate can't be read as PEM"
    form = (Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    try:
        key = load_key(pair.key, password=None)
        chain[0].public_key()
    except UnsupportedAlgorithm:
        return "the key is of a kind that can't be used: take RSA, P-256 or Ed25519"
    except (ValueError, TypeError):
        return "the key can't be read as unencrypted PEM"
    if key.public_key().public_bytes(*form) != chain[0].public_key().public_bytes(*form):
        return "the certificate and the key don't belong together"
    return None


def problem(
    pair: Pair, dns_name: str, now: datetime, authorities: Certificates | None = None
) -> str | None:
    """Why this pair should not be served for the name, None if it may be.

    Without authorities nobody is asked who signed it.
    """
    if words := mismatch(pair) or out_of_time(pair, now):
        return words
    chain = certificates(pair.certificate)
    if not is_for(chain[0], dns_name):
        return f"the certificate is not for {dns_name}"
    if authorities is not None and not _is_vouched_for(authorities, pair, dns_name, now):
        return "the authority in ca.crt did not sign the certificate"
    return None


def is_for(leaf: x509.Certificate, dns_name: str) -> bool:
    """Has it this name, or a wildcard for it?"""
    return bool(_names(leaf) & {dns_name, f"*.{dns_name.partition('.')[2]}"})


def out_of_time(pair: Pair, now: datetime) -> str | None:
    """That the certificate is not valid yet, or no longer; None while it is."""
    leaf = certificates(pair.certificate)[0]
    if now < leaf.not_valid_before_utc:
        return f"the certificate is not valid before {_said(leaf.not_valid_before_utc)}"
    if is_expired(leaf, now):
        return f"the certificate expired at {_said(leaf.not_valid_after_utc)}"
    return None


def two_thirds(certificate: x509.Certificate, since: timedelta) -> datetime:
    """When two thirds of a life are over that began so long after notBefore."""
    start, end = certificate.not_valid_before_utc + since, certificate.not_valid_after_utc
    return start + (end - start) * 2 / 3


def _is_vouched_for(authorities: Certificates, pair: Pair, dns_name: str, now: datetime) -> bool:
    """As Go sees it: a certificate that is itself trusted, or a root of an older make, is fine."""
    leaf = certificates(pair.certificate)[0]
    return (
        leaf in authorities
        or vouches(authorities, pair.certificate, dns_name, now)
        or any(_signed(authority, leaf) for authority in authorities)
    )


def issued_by(pair: Pair, authority: x509.Certificate) -> bool:
    """Did this authority sign the certificate of the pair?"""
    return _signed(authority, certificates(pair.certificate)[0])


def _signed(authority: x509.Certificate, leaf: x509.Certificate) -> bool:
    try:
        leaf.verify_directly_issued_by(authority)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


def _names(leaf: x509.Certificate) -> set[str]:
    try:
        names = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (x509.ExtensionNotFound, ValueError):
        return set()
    return set(names.get_values_for_type(x509.DNSName))


def _said(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M:%S UTC")


def newest_first(bundle: Sequence[x509.Certificate]) -> Certificates:
    """Each once, by the time from which it is valid; the same for every replica."""
    once = dict.fromkeys(bundle)
    return tuple(
        sorted(once, key=lambda item: (item.not_valid_before_utc, item.serial_number), reverse=True)
    )
