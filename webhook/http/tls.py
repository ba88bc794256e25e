"""The TLS context of the admission listener."""

import ssl
from pathlib import Path


class BadPair(Exception):
    """The certificate and key can't be served; the message names the files and the reason."""


def server_context(certificate: Path, key: Path) -> ssl.SSLContext:
    """A server context for this pair: TLS 1.2 or newer, HTTP/1.1, no client certificates.

    API servers speak HTTP/1.1 to webhook Services. Raises BadPair.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    try:
        context.load_cert_chain(certificate, key)
    except OSError as error:
        reason = "don't belong together" if isinstance(error, ssl.SSLError) else error.strerror
        raise BadPair(f"{certificate} and {key}: {reason}") from error
    return context
