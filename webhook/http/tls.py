"""The TLS context of the admission listener, and its certificate while it serves.

`load_cert_chain` on the live context gives new handshakes the new pair; open connections go on.
"""

import os
import ssl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from webhook.pki.mint import Pair


class LiveTls:
    """A server context whose pair can be changed; without one, handshakes fail.

    TLS 1.2 or newer, HTTP/1.1 (API servers speak it to webhook Services). Clients are not asked who
    they are, unless `client_authority` is a PEM file: then one of its authorities must have signed
    their certificate. Raises OSError where the file can't be used.
    """

    def __init__(self, client_authority: Path | None = None) -> None:
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.minimum_version = ssl.TLSVersion.TLSv1_2
        self.context.set_alpn_protocols(["http/1.1"])
        if client_authority:
            _demand_certificates(self.context, client_authority)

    def load(self, pair: Pair) -> None:
        """Lets new handshakes get this pair.

        Raises ssl.SSLError if OpenSSL does not take it; the pair before goes on being served.
        """
        with _readable(pair) as path:
            # A pair that does not fit would leave the context with half of it.
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(path)
            self.context.load_cert_chain(path)


def _demand_certificates(context: ssl.SSLContext, authority: Path) -> None:
    key = "server.clientAuthorityFile"
    try:
        context.load_verify_locations(cadata=authority.read_text())
    except (ssl.SSLError, ValueError) as error:
        raise OSError(f"{key}: {authority} holds no certificates in PEM") from error
    except OSError as error:
        raise OSError(f"{key}: {authority}: {error.strerror}") from error
    context.verify_mode = ssl.CERT_REQUIRED


@contextmanager
def _readable(pair: Pair) -> Iterator[Path]:
    """OpenSSL reads pairs from files only, and a container's file system may be read-only."""
    content = pair.certificate.rstrip() + b"\n" + pair.key
    if not hasattr(os, "memfd_create"):
        with tempfile.NamedTemporaryFile() as file:
            file.write(content)
            file.flush()
            yield Path(file.name)
        return
    with os.fdopen(os.memfd_create("tls"), "wb") as memory:
        memory.write(content)
        memory.flush()
        yield Path(f"/proc/self/fd/{memory.fileno()}")
