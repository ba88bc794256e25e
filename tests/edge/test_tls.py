"""The admission listener on a real socket with real TLS."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import trustme

from tests.edge.reviews import jobset, review
from webhook.http.listener import KEEP_ALIVE_SECONDS, Listener
from webhook.http.tls import LiveTls
from webhook.pki.mint import Pair

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    """A CA of this module's own."""
    return trustme.CA()


@pytest.fixture
def live(authority: trustme.CA) -> LiveTls:
    """A context that serves a pair for localhost."""
    live = LiveTls()
    live.load(_pair(authority))
    return live


@pytest.fixture
async def listener(app: Any, live: LiveTls) -> AsyncIterator[Listener]:
    """The application on a free port."""
    listener = Listener(app, "127.0.0.1", 0, tls=live.context)
    task = asyncio.create_task(listener.run_until_stopped())
    yield listener
    listener.stop()
    await task


def _pair(authority: trustme.CA) -> Pair:
    leaf = authority.issue_cert("localhost", "127.0.0.1")
    return Pair(leaf.cert_chain_pems[0].bytes(), leaf.private_key_pem.bytes())


def _trusting(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.create_default_context()
    authority.configure_trust(context)
    return context


async def test_reviews_are_served_over_tls(listener: Listener, authority: trustme.CA) -> None:
    """A client that trusts the CA gets its review answered over HTTP/1.1."""
    async with httpx.AsyncClient(verify=_trusting(authority)) as client:
        url = f"https://localhost:{listener.port}/mutate"
        answer = await client.post(url, json=review(jobset(queue="gpu")))
    assert answer.json()["response"]["allowed"] is True
    assert answer.http_version == "HTTP/1.1"


async def test_plain_http_is_not_served(listener: Listener) -> None:
    """A client that does not speak TLS gets nothing."""
    async with httpx.AsyncClient() as client:
        with pytest.raises(httpx.HTTPError):
            await client.get(f"http://127.0.0.1:{listener.port}/mutate")


async def test_tls_older_than_1_2_is_refused(listener: Listener, authority: trustme.CA) -> None:
    """TLS 1.1 ends in the handshake, 1.2 does not."""
    oldest = _trusting(authority)
    oldest.maximum_version = ssl.TLSVersion.TLSv1_2
    _, writer = await asyncio.open_connection("127.0.0.1", listener.port, ssl=oldest)
    writer.close()
    context = _trusting(authority)
    context.set_ciphers("ALL:@SECLEVEL=0")
    with pytest.warns(DeprecationWarning, match="TLSv1_1 is deprecated"):
        context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_1
    with pytest.raises((ssl.SSLError, ConnectionError)):
        await asyncio.open_connection("127.0.0.1", listener.port, ssl=context)


async def test_idle_connections_outlive_those_of_api_servers(listener: Listener) -> None:
    """The keep-alive is longer than the 90 s of Go's clients, so no review meets a closed one."""
    assert listener.config.timeout_keep_alive == KEEP_ALIVE_SECONDS > 90


async def test_new_handshakes_get_the_new_pair_and_open_connections_go_on(
    listener: Listener, live: LiveTls, authority: trustme.CA
) -> None:
    """A pair of another CA is loaded while a client is connected: it goes on, the next sees it."""
    url = f"https://localhost:{listener.port}/mutate"
    other = trustme.CA()
    async with httpx.AsyncClient(verify=_trusting(authority)) as before:
        await before.post(url, json=review(jobset(queue="gpu")))
        live.load(_pair(other))
        assert (await before.post(url, json=review(jobset(queue="gpu")))).status_code == 200
    async with httpx.AsyncClient(verify=_trusting(other)) as after:
        assert (await after.post(url, json=review(jobset(queue="gpu")))).status_code == 200
    async with httpx.AsyncClient(verify=_trusting(authority)) as late:
        with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
            await late.post(url, json=review(jobset(queue="gpu")))


async def test_a_pair_that_does_not_fit_changes_nothing(
    listener: Listener, live: LiveTls, authority: trustme.CA
) -> None:
    """A certificate with a foreign key is refused, and the pair before goes on being served."""
    foreign = Pair(_pair(authority).certificate, _pair(authority).key)
    with pytest.raises(ssl.SSLError):
        live.load(foreign)
    async with httpx.AsyncClient(verify=_trusting(authority)) as client:
        url = f"https://localhost:{listener.port}/mutate"
        assert (await client.post(url, json=review(jobset(queue="gpu")))).status_code == 200


async def test_without_a_pair_no_handshake_succeeds(app: Any, authority: trustme.CA) -> None:
    """Before the first certificate is there the port is open, and nobody is answered."""
    listener = Listener(app, "127.0.0.1", 0, tls=LiveTls().context)
    task = asyncio.create_task(listener.run_until_stopped())
    async with httpx.AsyncClient(verify=_trusting(authority)) as client:
        with pytest.raises(httpx.ConnectError):
            await client.get(f"https://localhost:{listener.port}/mutate")
    listener.stop()
    await task


async def test_a_taken_port_is_an_error_at_once(listener: Listener, app: Any) -> None:
    """Two listeners can't have one port."""
    with pytest.raises(OSError, match="in use"):
        Listener(app, "127.0.0.1", listener.port)
