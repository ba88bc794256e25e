"""What a replica takes on at a time, and what it answers when that is full."""

import asyncio
import contextlib
import json
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from tests.edge.clients import REVIEW, Wire, post
from tests.edge.reviews import jobset, review
from tests.edge.servers import UVLOOP, serving
from webhook.http.app import admission_app
from webhook.http.intake import Call, Intake, Limits, Overloaded
from webhook.rules import admit
from webhook.rules.policy import Policy
from webhook.rules.review import Request
from webhook.rules.verdict import Verdict
from webhook.telemetry import Telemetry

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> tuple[str, dict[str, bool]]:
    """The loop of the real server."""
    return UVLOOP


@dataclass
class Gate:
    """Decides when it is opened, as a rule does that waits for the cluster."""

    opened: asyncio.Event = field(default_factory=asyncio.Event)
    waiting: int = 0

    async def decide(self, request: Request) -> Verdict:
        self.waiting += 1
        await self.opened.wait()
        return admit.validate(request, Policy())


async def _until(is_so: Any) -> None:
    async with asyncio.timeout(5):
        while not is_so():  # noqa: ASYNC110 - what is looked at has no event
            await asyncio.sleep(0.01)


async def test_a_review_too_many_is_refused_at_once_and_welcome_later(reports: Any) -> None:
    """503, plain text, Retry-After; the connection stays, and the next attempt is answered."""
    gate, intake = Gate(), Intake(Limits(reviews=2))
    async with serving(admission_app(gate.decide, gate.decide, reports, intake)) as listener:
        wires = [await Wire.open(listener.port) for _ in range(3)]
        for wire in wires[:2]:
            await wire.send(REVIEW)
        await _until(lambda: gate.waiting == 2)
        refusal = await wires[2].ask()
        assert refusal.status == 503
        assert refusal.headers["retry-after"] == "1"
        assert refusal.headers["content-type"] == "text/plain; charset=utf-8"
        assert refusal.body == b"2 reviews are being decided already. Try again in 1 s.\n"
        assert not refusal.is_last
        gate.opened.set()
        assert [(await wire.answer()).status for wire in wires[:2]] == [200, 200]
        assert (await wires[2].ask()).status == 200
        for wire in wires:
            await wire.close()
    assert [type(error) for error in reports.overloads] == [Overloaded]
    assert (intake.in_flight, intake.deciding, intake.held) == (0, 0, 0)


async def test_both_paths_share_the_places(reports: Any) -> None:
    """What waits in /mutate leaves no place for /validate."""
    gate, intake = Gate(), Intake(Limits(reviews=1))
    async with serving(admission_app(gate.decide, gate.decide, reports, intake)) as listener:
        first, second = await Wire.open(listener.port), await Wire.open(listener.port)
        await first.send(REVIEW)
        await _until(lambda: gate.waiting == 1)
        body = json.dumps(review(jobset())).encode()
        assert (await second.ask(post(body, path="/validate"))).status == 503
        gate.opened.set()
        assert (await first.answer()).status == 200
        await first.close()
        await second.close()


async def test_bodies_on_their_way_take_no_place(reports: Any) -> None:
    """Any number of slow clients leaves the one place to the client that is there."""
    gate, intake = Gate(), Intake(Limits(reviews=1))
    gate.opened.set()
    async with serving(admission_app(gate.decide, gate.decide, reports, intake)) as listener:
        slow = [await Wire.open(listener.port) for _ in range(20)]
        for wire in slow:
            await wire.send(REVIEW[:-5])
        await _until(lambda: intake.in_flight == 20)
        quick = await Wire.open(listener.port)
        assert (await quick.ask()).status == 200
        for wire in (*slow, quick):
            await wire.close()
        await _until(lambda: intake.in_flight == 0)
    assert intake.held == 0


async def test_bodies_share_a_bounded_memory(reports: Any) -> None:
    """What has arrived counts, not what is announced; what ends gives its part back."""
    gate, intake = Gate(), Intake(Limits(body_bytes=40_000))
    gate.opened.set()
    async with serving(admission_app(gate.decide, gate.decide, reports, intake)) as listener:
        announcing, holding, late = [await Wire.open(listener.port) for _ in range(3)]
        await announcing.send(post(b"", length=5_000_000))
        await holding.send(post(b" " * 39_500, length=40_000))
        await _until(lambda: intake.held == 39_500)
        refusal = await late.ask()
        assert (refusal.status, refusal.headers["retry-after"]) == (503, "1")
        assert b"larger than 40000 bytes" in refusal.body
        await holding.close()
        await _until(lambda: intake.held == 0)
        assert (await late.ask()).status == 200
        await announcing.close()
        await late.close()


ENDS: dict[str, type[BaseException]] = {
    "answered": AssertionError,
    "refused": Overloaded,
    "cancelled": asyncio.CancelledError,
}


@pytest.mark.parametrize("error", ENDS.values(), ids=ENDS.keys())
def test_whatever_ends_a_call_gives_back_what_it_took(error: type[BaseException]) -> None:
    """No way out of a call keeps a place or memory."""
    intake = Intake(Limits(reviews=1, body_bytes=10))
    with contextlib.suppress(error), intake.call() as call:
        _fill(call)
        raise error
    assert (intake.in_flight, intake.deciding, intake.held) == (0, 0, 0)
    with intake.call() as call:
        _fill(call)


def _fill(call: Call) -> None:
    call.hold(10)
    call.decide()


async def test_reviews_in_flight_and_refusals_are_metrics() -> None:
    """The gauge follows the calls; a refusal for want of room counts as refused, HTTP503."""
    telemetry, gate, intake = Telemetry(), Gate(), Intake(Limits(reviews=1))
    telemetry.watch_in_flight(lambda: intake.in_flight)
    app = admission_app(gate.decide, gate.decide, telemetry, intake)
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="https://webhook") as client:
        call = review(jobset(queue="gpu"))
        first = asyncio.create_task(client.post("/mutate", json=call))
        await _until(lambda: gate.waiting == 1)
        assert "kueue_steps_admission_in_flight 1.0" in telemetry.metrics().decode()
        assert (await client.post("/mutate", json=call)).status_code == 503
        gate.opened.set()
        assert (await first).status_code == 200
    text = telemetry.metrics().decode()
    assert "kueue_steps_admission_in_flight 0.0" in text
    assert (
        'kueue_steps_admission_requests_total{decision="refused",operation="unknown",'
        'reason="HTTP503",resource="unknown"} 1.0'
    ) in text
