"""The certificates that are minted for TLS."""

import stat
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from cryptography.x509.verification import PolicyBuilder, ServerVerifier, Store, VerificationError

from webhook.pki.files import write_pair
from webhook.pki.mint import Pair, mint_authority, mint_leaf

NOW = datetime(2026, 11, 30, tzinfo=UTC)
SERVICE = "kueue-steps.kueue-steps-system.svc"


@pytest.fixture(scope="module")
def authority() -> Pair:
    """An authority of that day."""
    return mint_authority("test authority", now=NOW)


@pytest.fixture(scope="module")
def leaf(authority: Pair) -> Pair:
    """A leaf with a name and an address."""
    return mint_leaf(authority, dns_names=[SERVICE], addresses=["127.0.0.1"], now=NOW)


def verifier(authority: Pair, subject: x509.GeneralName, at: datetime = NOW) -> ServerVerifier:
    """What verifies a server's certificate as a strict client does."""
    store = Store([x509.load_pem_x509_certificate(authority.certificate)])
    return PolicyBuilder().store(store).time(at).build_server_verifier(subject)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "subject", [x509.DNSName(SERVICE), x509.IPAddress(ip_address("127.0.0.1"))]
)
def test_a_leaf_is_good_for_its_names(
    authority: Pair, leaf: Pair, subject: x509.GeneralName
) -> None:
    """A client that trusts the authority accepts the leaf for each of its names."""
    certificate = x509.load_pem_x509_certificate(leaf.certificate)
    assert verifier(authority, subject).verify(certificate, [])[0] == certificate


@pytest.mark.parametrize(
    ("subject", "at"),
    [
        (x509.DNSName("other.svc"), NOW),
        (x509.DNSName(SERVICE), NOW + timedelta(days=366)),
        (x509.DNSName(SERVICE), NOW - timedelta(hours=1)),
    ],
)
def test_a_leaf_is_good_for_nothing_else(
    authority: Pair, leaf: Pair, subject: x509.GeneralName, at: datetime
) -> None:
    """Another name, or a time before or after its life, is refused."""
    certificate = x509.load_pem_x509_certificate(leaf.certificate)
    with pytest.raises(VerificationError):
        verifier(authority, subject, at).verify(certificate, [])


def test_another_authority_does_not_vouch(leaf: Pair) -> None:
    """An authority of the same name with another key is another authority."""
    stranger = mint_authority("test authority", now=NOW)
    certificate = x509.load_pem_x509_certificate(leaf.certificate)
    with pytest.raises(VerificationError):
        verifier(stranger, x509.DNSName(SERVICE)).verify(certificate, [])


def test_keys_are_p256_and_belong_to_their_certificates(authority: Pair, leaf: Pair) -> None:
    """Each private key is the certificate's own, on P-256."""
    for pair in (authority, leaf):
        key = load_pem_private_key(pair.key, password=None)
        assert isinstance(key, ec.EllipticCurvePrivateKey)
        assert isinstance(key.curve, ec.SECP256R1)
        assert key.public_key() == x509.load_pem_x509_certificate(pair.certificate).public_key()


def test_a_long_service_name_is_no_problem(authority: Pair) -> None:
    """A DNS name beyond the 64 characters of a common name can have a certificate."""
    name = f"{'s' * 63}.{'n' * 63}.svc"
    pair = mint_leaf(authority, dns_names=[name], now=NOW)
    certificate = x509.load_pem_x509_certificate(pair.certificate)
    verifier(authority, x509.DNSName(name)).verify(certificate, [])


def test_a_leaf_without_a_name_is_refused(authority: Pair) -> None:
    """A certificate that is good for nothing is a mistake of the caller."""
    with pytest.raises(ValueError, match="at least one"):
        mint_leaf(authority, dns_names=[], now=NOW)


def test_keys_are_private_on_disk(leaf: Pair, tmp_path: Path) -> None:
    """A key is readable by its owner only, even where a more open file was before."""
    key = tmp_path / "tls.key"
    key.write_text("old")
    key.chmod(0o644)
    write_pair(leaf, tmp_path / "tls.crt", key)
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert key.read_bytes() == leaf.key
