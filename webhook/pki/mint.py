"""Mint a certificate authority and the server certificates that it signs.

Pure: no clock, no files, no network. The caller says what time it is and what to do with the
PEM. P-256 throughout, because the API server opens a TLS session per connection and RSA
handshakes cost about ten times as much.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import ip_address

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

CLOCK_SKEW = timedelta(minutes=5)
ONE_YEAR = timedelta(days=365)

_NO_KEY_USAGE = {
    "digital_signature": False,
    "content_commitment": False,
    "key_encipherment": False,
    "data_encipherment": False,
    "key_agreement": False,
    "key_cert_sign": False,
    "crl_sign": False,
    "encipher_only": False,
    "decipher_only": False,
}


@dataclass(frozen=True)
class Pair:
    """A certificate and its private key, both PEM; the key is unencrypted PKCS #8."""

    certificate: bytes
    key: bytes


def mint_authority(common_name: str, *, now: datetime, lifetime: timedelta = 10 * ONE_YEAR) -> Pair:
    """Return a self-signed authority that may sign leaves but no further authorities."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = _name(common_name)
    builder = (
        _valid(_issued(name, name, key.public_key()), now, lifetime)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_key_usage("digital_signature", "key_cert_sign", "crl_sign"), critical=True)
    )
    return _pair(builder.sign(key, hashes.SHA256()), key)


def mint_leaf(
    authority: Pair,
    *,
    dns_names: Iterable[str],
    addresses: Iterable[str] = (),
    now: datetime,
    lifetime: timedelta = ONE_YEAR,
) -> Pair:
    """Return a server certificate for these names and IP addresses, signed by the authority.

    Raises ValueError if there is no name at all, or if an address is not an IP address.
    """
    names = _alternative_names(dns_names, addresses)
    issuer = x509.load_pem_x509_certificate(authority.certificate)
    key = ec.generate_private_key(ec.SECP256R1())
    # No subject: a common name is limited to 64 characters, a Service's DNS name is not.
    # RFC 5280 4.2.1.6 wants the alternative names critical then.
    builder = (
        _valid(_issued(x509.Name([]), issuer.subject, key.public_key()), now, lifetime)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(names, critical=True)
        .add_extension(_key_usage("digital_signature"), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(_authority_key_identifier(issuer), critical=False)
    )
    return _pair(builder.sign(_signing_key(authority), hashes.SHA256()), key)


def _issued(
    subject: x509.Name, issuer: x509.Name, public_key: ec.EllipticCurvePublicKey
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public_key)
        .serial_number(x509.random_serial_number())
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public_key), critical=False)
    )


def _valid(
    builder: x509.CertificateBuilder, now: datetime, lifetime: timedelta
) -> x509.CertificateBuilder:
    return builder.not_valid_before(now - CLOCK_SKEW).not_valid_after(now + lifetime)


def _alternative_names(
    dns_names: Iterable[str], addresses: Iterable[str]
) -> x509.SubjectAlternativeName:
    names: list[x509.GeneralName] = [x509.DNSName(name) for name in dns_names]
    names += [x509.IPAddress(ip_address(address)) for address in addresses]
    if not names:
        raise ValueError("a server certificate needs at least one DNS name or IP address")
    return x509.SubjectAlternativeName(names)


def _authority_key_identifier(issuer: x509.Certificate) -> x509.AuthorityKeyIdentifier:
    identifier = issuer.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
    return x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(identifier)


def _signing_key(authority: Pair) -> ec.EllipticCurvePrivateKey:
    key = serialization.load_pem_private_key(authority.key, password=None)
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise TypeError("the authority's key is not an elliptic-curve key")
    return key


def _key_usage(*allowed: str) -> x509.KeyUsage:
    return x509.KeyUsage(**(_NO_KEY_USAGE | dict.fromkeys(allowed, True)))


def _name(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _pair(certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> Pair:
    return Pair(
        certificate=certificate.public_bytes(serialization.Encoding.PEM),
        key=key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ),
    )
