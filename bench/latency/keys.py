"""The same kind of key on both sides: Kueue gets a P-256 leaf from its own authority.

Kueue mints RSA keys, whose handshakes cost a server about twice as much; with the same kind, what
is measured is the answering of reviews.
"""

import base64
import ssl
from pathlib import Path

import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from localcluster import kueue
from localcluster.cluster import Cluster
from localcluster.layout import HOST
from webhook.pki.files import write_pair
from webhook.pki.mint import Pair


def kind_of_key(port: int) -> str:
    """The kind of key behind the certificate that is served there."""
    pem = ssl.get_server_certificate((HOST, port))
    key = x509.load_pem_x509_certificate(pem.encode()).public_key()
    if isinstance(key, ec.EllipticCurvePublicKey):
        return key.curve.name
    return f"RSA {key.key_size}" if isinstance(key, rsa.RSAPublicKey) else type(key).__name__


def give_kueue_an_elliptic_key(cluster: Cluster) -> None:
    """Put a new pair where Kueue reads it; Kueue and what keeps its folder must be stopped."""
    stored = cluster.get("secret", kueue.CERTIFICATE_SECRET, kueue.NAMESPACE)["data"]
    files = {name: base64.b64decode(value) for name, value in stored.items()}
    pair = _elliptic(files["tls.crt"], files["ca.key"])
    configuration = yaml.safe_load((cluster.state_dir / "kueue" / "config.yaml").read_text())
    folder = Path(configuration["webhook"]["certDir"])
    write_pair(pair, folder / "tls.crt", folder / "tls.key")


def _elliptic(certificate: bytes, authority_key: bytes) -> Pair:
    """The same certificate with a P-256 key, signed by the same authority."""
    old = x509.load_pem_x509_certificate(certificate)
    signing_key = serialization.load_pem_private_key(authority_key, password=None)
    if not isinstance(signing_key, rsa.RSAPrivateKey):
        raise TypeError("Kueue's authority has no RSA key any more: its leaf needs no replacement")
    key = ec.generate_private_key(ec.SECP256R1())
    builder = (
        x509.CertificateBuilder()
        .subject_name(old.subject)
        .issuer_name(old.issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(old.not_valid_before_utc)
        .not_valid_after(old.not_valid_after_utc)
    )
    for kind in (x509.SubjectAlternativeName, x509.ExtendedKeyUsage):
        extension = old.extensions.get_extension_for_class(kind)
        builder = builder.add_extension(extension.value, critical=extension.critical)
    signed = builder.sign(signing_key, hashes.SHA256())
    return Pair(
        signed.public_bytes(serialization.Encoding.PEM),
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ),
    )
