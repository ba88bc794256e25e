"""The plain listener for probes and metrics."""

import httpx
import pytest

from webhook.http.app import operations_app
from webhook.rules import review as reviews
from webhook.rules.facts import Key
from webhook.rules.reasons import Reason
from webhook.rules.review import Request, Resource
from webhook.rules.verdict import Verdict
from webhook.telemetry import Telemetry

pytestmark = pytest.mark.anyio


async def _get(path: str, reasons: list[str], telemetry: Telemetry) -> httpx.Response:
    app = operations_app(lambda: reasons, telemetry.metrics)
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(
        transport=transport, base_url="http://ops", follow_redirects=True
    ) as client:
        return await client.get(path)


async def test_a_replica_that_is_ready_says_ok() -> None:
    """With no reason against it, /readyz is 200."""
    answer = await _get("/readyz", [], Telemetry())
    assert (answer.status_code, answer.text) == (200, "ok\n")


async def test_a_replica_that_is_not_ready_says_why() -> None:
    """/readyz is 503 with each reason, while /livez stays 200."""
    answer = await _get("/readyz", ["draining"], Telemetry())
    assert (answer.status_code, answer.text) == (503, "draining\n")
    assert (await _get("/livez", ["draining"], Telemetry())).status_code == 200


async def test_each_review_is_counted_by_decision_and_reason() -> None:
    """/metrics shows a review under its resource, operation, decision and reason."""
    telemetry = Telemetry()
    request = Request(
        uid="1",
        resource=Resource(group="batch", version="v1", resource="jobs"),
        operation=reviews.Operation.UPDATE,
    )
    telemetry.reviewed("/mutate", request, Verdict(Reason.STARTED), 0.001)
    text = (await _get("/metrics", [], telemetry)).text
    assert (
        'kueue_steps_admission_requests_total{decision="allowed",operation="UPDATE",'
        'reason="Started",resource="jobs"} 1.0'
    ) in text
    assert 'kueue_steps_build_info{version="' in text


async def test_failed_look_ups_are_counted_by_resource() -> None:
    """An administrator sees that rules took the safe way, and for want of which object."""
    telemetry = Telemetry()
    telemetry.unreadable(Key("", "v1", "configmaps", "kueue-manager-config", "ns"), "403")
    text = (await _get("/metrics", [], telemetry)).text
    assert 'kueue_steps_lookup_failures_total{resource="configmaps"} 1.0' in text
