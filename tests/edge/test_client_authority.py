"""`server.clientAuthorityFile`: who has no certificate of it is not heard."""

import json
import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import trustme

from tests.edge.program import NOWHERE
from tests.edge.reviews import jobset, review
from tests.edge.servers import UVLOOP, serving
from webhook import server
from webhook.http.tls import LiveTls
from webhook.pki.mint import Pair
from webhook.sections import ServerSection
from webhook.settings import Configuration

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> tuple[str, dict[str, bool]]:
    """The loop of the real server."""
    return UVLOOP


@pytest.fixture
def ours() -> trustme.CA:
    """The authority that signed the server's certificate."""
    return trustme.CA()


@pytest.fixture
def callers() -> trustme.CA:
    """The authority of the API servers' client certificates."""
    return trustme.CA()


@pytest.fixture
async def url(
    app: Any, ours: trustme.CA, callers: trustme.CA, tmp_path: Path
) -> AsyncIterator[str]:
    """Where a server listens that asks callers who they are."""
    authority = tmp_path / "callers.crt"
    callers.cert_pem.write_to_path(str(authority))
    leaf = ours.issue_cert("localhost")
    live = LiveTls(authority)
    live.load(Pair(leaf.cert_chain_pems[0].bytes(), leaf.private_key_pem.bytes()))
    async with serving(app, tls=live.context) as listener:
        yield f"https://localhost:{listener.port}/mutate"


async def _status(url: str, ours: trustme.CA, signed_by: trustme.CA | None) -> int:
    context = ssl.create_default_context()
    ours.configure_trust(context)
    if signed_by:
        signed_by.issue_cert("api-server").configure_cert(context)
    async with httpx.AsyncClient(verify=context) as client:
        return (await client.post(url, json=review(jobset(queue="gpu")))).status_code


async def test_a_caller_with_a_certificate_is_answered(
    url: str, ours: trustme.CA, callers: trustme.CA
) -> None:
    """An API server that presents its client certificate gets its review answered."""
    assert await _status(url, ours, signed_by=callers) == 200


async def test_strangers_are_not_heard(url: str, ours: trustme.CA, reports: Any) -> None:
    """Without a certificate, or with one of another authority, no byte reaches the application."""
    for stranger in (None, trustme.CA(), ours):
        with pytest.raises((httpx.ReadError, httpx.ConnectError, httpx.RemoteProtocolError)):
            await _status(url, ours, signed_by=stranger)
    assert reports.reviewed_calls == []
    assert reports.refusals == []


NO_AUTHORITY = {"nothing": b"", "no PEM": b"rubbish", "no text": b"\xff\xfe"}


@pytest.mark.parametrize("content", NO_AUTHORITY.values(), ids=NO_AUTHORITY.keys())
def test_a_file_without_certificates_is_named(content: bytes, tmp_path: Path) -> None:
    """It would leave everybody out, or let everybody in: the server does not start."""
    path = tmp_path / "callers.crt"
    path.write_bytes(content)
    with pytest.raises(
        OSError, match=r"clientAuthorityFile: .*callers\.crt holds no certificates in PEM"
    ):
        LiveTls(path)


async def test_the_setting_reaches_the_listener(tmp_path: Path) -> None:
    """A missing file stops the start, before anything is served."""
    (tmp_path / "kubeconfig").write_text(json.dumps(NOWHERE))
    missing = ServerSection(client_authority_file=tmp_path / "none.crt")
    with pytest.raises(OSError, match=r"clientAuthorityFile: .*none\.crt: No such file"):
        await server.serve(Configuration(server=missing), tmp_path / "kubeconfig")
