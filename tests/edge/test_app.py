"""The admission application in memory: what callers get for good and for bad calls."""

import base64
import json
from typing import Any

import httpx
import pytest

from tests.edge.reviews import jobset, review
from webhook.http import body
from webhook.http.app import admission_app
from webhook.rules.reasons import Reason

pytestmark = pytest.mark.anyio

JSON = {"content-type": "application/json"}


async def test_a_good_review_is_answered_with_its_uid_and_a_patch(
    client: httpx.AsyncClient, reports: Any
) -> None:
    """A review of a queued JobSet comes back allowed, with its own uid and a JSON patch."""
    answer = await client.post("/mutate?timeout=5s", json=review(jobset(queue="gpu")))
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    response = answer.json()["response"]
    assert response["uid"] == "705ab4f5-6393-11e8-b7cc-42010a800002"
    assert response["allowed"] is True
    assert response["patchType"] == "JSONPatch"
    assert json.loads(base64.b64decode(response["patch"]))
    assert response["auditAnnotations"] == {"decision": "Stepped"}
    assert [verdict.reason for _, _, verdict in reports.reviewed_calls] == [Reason.STEPPED]


async def test_what_is_not_ours_passes_without_a_patch(client: httpx.AsyncClient) -> None:
    """A JobSet without a queue is allowed, with neither patch nor patchType."""
    response = (await client.post("/mutate", json=review(jobset()))).json()["response"]
    assert response["allowed"] is True
    assert {"patch", "patchType"}.isdisjoint(response)


async def test_a_refused_object_is_a_good_call(client: httpx.AsyncClient) -> None:
    """A bad queue name is answered with HTTP 200, allowed false, the field and the way out."""
    answer = await client.post("/mutate", json=review(jobset(queue="Team_A")))
    response = answer.json()["response"]
    assert answer.status_code == 200
    assert response["allowed"] is False
    assert response["status"]["code"] == 422
    assert "metadata.labels[kueue.x-k8s.io/queue-name]" in response["status"]["message"]
    assert "Name a LocalQueue of this namespace" in response["status"]["message"]


async def test_unknown_fields_of_a_newer_api_server_are_tolerated(
    client: httpx.AsyncClient,
) -> None:
    """Fields that no version has today do not disturb the decoding of a review."""
    call = review(jobset(queue="gpu"), futureField={"a": [1]}, userInfo={"username": "a", "x": 1})
    assert (await client.post("/mutate", json=call)).json()["response"]["allowed"] is True


MALFORMED: dict[str, tuple[bytes, dict[str, str], int, str]] = {
    "no JSON at all": (b"hello", JSON, 400, "not a readable AdmissionReview"),
    "an empty body": (b"", JSON, 400, "not a readable AdmissionReview"),
    "a list": (b"[]", JSON, 400, "not a readable AdmissionReview"),
    "invalid UTF-8": (b'{"apiVersion": "\xff"}', JSON, 400, "not a readable AdmissionReview"),
    "JSON nested a hundred thousand deep": (b"[" * 100_000, JSON, 400, "not a readable"),
    "no request": (
        b'{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}',
        JSON,
        400,
        "request",
    ),
    "an old API version": (
        json.dumps(review(jobset()) | {"apiVersion": "admission.k8s.io/v1beta1"}).encode(),
        JSON,
        400,
        "admission.k8s.io/v1beta1 AdmissionReview",
    ),
    "another kind": (
        json.dumps(review(jobset()) | {"kind": "TokenReview"}).encode(),
        JSON,
        400,
        "TokenReview",
    ),
    "an unknown operation": (
        json.dumps(review(jobset(), operation="PATCH")).encode(),
        JSON,
        400,
        "request.operation",
    ),
    "a create without its object": (
        json.dumps(review(None)).encode(),
        JSON,
        400,
        "request.object is missing",
    ),
    "an update without its old object": (
        json.dumps(review(jobset(), operation="UPDATE")).encode(),
        JSON,
        400,
        "request.oldObject is missing",
    ),
    "a form": (b"a=1", {"content-type": "application/x-www-form-urlencoded"}, 415, "x-www-form"),
    "no content type": (b"{}", {}, 415, "missing"),
}


@pytest.mark.parametrize(
    ("content", "headers", "code", "words"), MALFORMED.values(), ids=MALFORMED.keys()
)
@pytest.mark.parametrize("path", ["/mutate", "/validate"])
async def test_a_malformed_call_is_refused_in_one_plain_sentence(
    client: httpx.AsyncClient,
    reports: Any,
    path: str,
    content: bytes,
    headers: dict[str, str],
    code: int,
    words: str,
) -> None:
    """Each malformed call gets its status and one sentence, and is reported once."""
    answer = await client.post(path, content=content, headers=headers)
    assert answer.status_code == code
    assert words in answer.text
    assert answer.text.endswith(".\n")
    assert answer.text.count("\n") == 1
    assert len(reports.refusals) == 1
    assert not reports.failures


async def test_a_body_that_says_it_is_too_large_is_refused_unread(
    client: httpx.AsyncClient,
) -> None:
    """A content-length over 7 MiB is answered with 413."""
    headers = JSON | {"content-length": str(body.MAX_BYTES + 1)}
    answer = await client.post("/mutate", content=b"{}", headers=headers)
    assert answer.status_code == 413
    assert "7 MiB" in answer.text


async def test_a_streamed_body_is_refused_as_soon_as_it_is_too_large(
    client: httpx.AsyncClient,
) -> None:
    """Without a content-length the body is counted, and the rest is not kept."""

    async def chunks() -> Any:
        for _ in range(8):
            yield b" " * 1024 * 1024

    answer = await client.post("/mutate", content=chunks(), headers=JSON)
    assert answer.status_code == 413


async def test_a_body_of_exactly_the_limit_is_read(client: httpx.AsyncClient) -> None:
    """The cap is 7 MiB, not less."""
    call = json.dumps(review(jobset(queue="gpu"))).encode().ljust(body.MAX_BYTES)
    assert (await client.post("/mutate", content=call, headers=JSON)).status_code == 200


async def test_other_methods_and_paths_are_refused(client: httpx.AsyncClient) -> None:
    """Only POST is served, and nothing redirects or documents itself."""
    assert (await client.get("/mutate")).status_code == 405
    for path in ("/", "/docs", "/openapi.json", "/mutate/"):
        assert (await client.post(path, json={})).status_code == 404


async def test_a_bug_is_a_500_and_never_allowed(reports: Any) -> None:
    """An exception outside the error tree is answered with 500, so that failurePolicy decides."""

    async def broken(_request: Any) -> Any:
        raise ZeroDivisionError("a bug")

    transport = httpx.ASGITransport(app=admission_app(broken, broken, reports))
    async with httpx.AsyncClient(transport=transport, base_url="https://webhook") as client:
        answer = await client.post("/mutate", json=review(jobset(queue="gpu")))
    assert answer.status_code == 500
    assert "allowed" not in answer.text
    assert [type(error) for error in reports.failures] == [ZeroDivisionError]
