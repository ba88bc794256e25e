"""Whatever is posted: 4xx in plain words or a well-formed answer, never a server error.

Tolerance towards odd objects is a property of the rules (tests/rules/test_properties.py). Here it
is one of the whole edge, for bodies too that no API server would send.
"""

import asyncio
import json
from base64 import b64decode
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.edge.conftest import Objects, Reports
from tests.rules.factories import (
    JOBSET,
    STEP_QUEUES,
    Obj,
    Q,
    cases,
    changed,
    child_job,
    labelled,
    owner_facts,
    runtime_facts,
    stored_jobset,
    stored_trainjob,
    trainer_jobset,
    trainjob,
    user_jobset,
)
from tests.rules.reviews import create, update
from tests.rules.strategies import bent
from webhook.http.admission import Admission
from webhook.http.app import admission_app
from webhook.http.body import MAX_BYTES
from webhook.rules.policy import Policy

PATHS = ["/mutate", "/validate"]
REFUSED = {400, 413, 415}

GOLDEN: dict[str, bytes] = {
    "a TrainJob is created": create(trainjob()),
    "a TrainJob is replayed": update(trainjob(suspend=True), stored_trainjob()),
    "a JobSet is created": create(user_jobset(annotations={STEP_QUEUES: "prepare=cpu"})),
    "Trainer's JobSet is created": create(trainer_jobset()),
    "a JobSet is updated": update(user_jobset(), stored_jobset(user_jobset())),
    "a Job is created": create(child_job(suspend=False)),
    "a Job is started by JobSet": update(
        child_job(suspend=False, tolerations=[{"key": "b"}]),
        child_job(tolerations=[{"key": "a"}]),
        user=JOBSET,
    ),
}
"""One review of each way through the rules."""


class Server:
    """The whole edge, in memory, on a cluster that knows Trainer's runtime and TrainJob."""

    def __init__(self) -> None:
        self.reports = Reports()
        self.objects = Objects({**runtime_facts(), **owner_facts()})
        admission = Admission(self.objects, Policy(), self.reports)
        self._app = admission_app(admission.mutate, admission.validate, self.reports)

    async def post(self, body: bytes, path: str) -> httpx.Response:
        """The answer to one call."""
        transport = httpx.ASGITransport(app=self._app)
        async with httpx.AsyncClient(transport=transport, base_url="https://webhook") as client:
            headers = {"content-type": "application/json"}
            return await client.post(path, content=body, headers=headers)


def answers(body: bytes) -> list[httpx.Response]:
    """What both paths say to a body; AssertionError unless each of it is well-formed."""
    server = Server()
    found = [asyncio.run(server.post(body, path)) for path in PATHS]
    assert server.reports.failures == []
    for answer in found:
        if answer.status_code == 200:
            _check_review(answer.json())
        else:
            assert answer.status_code in REFUSED
            assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    return found


def _check_review(review: Obj) -> None:
    assert (review["apiVersion"], review["kind"]) == ("admission.k8s.io/v1", "AdmissionReview")
    response = review["response"]
    assert isinstance(response["uid"], str)
    assert isinstance(response["allowed"], bool)
    assert ("patch" in response) == ("patchType" in response)
    if "patch" in response:
        assert response["allowed"]
        assert isinstance(json.loads(b64decode(response["patch"], validate=True)), list)
    for warning in response.get("warnings", []):
        assert len(warning) <= 120
        assert warning.isprintable()
    assert len(response.get("warnings", [])) <= 3


def _with(body: bytes, mark: str, raw: bytes) -> bytes:
    """The body with raw bytes in the place of a JSON text."""
    found = body.replace(json.dumps(mark).encode(), raw)
    assert found != body
    return found


def _in(place: str, raw: bytes) -> bytes:
    """A review with raw bytes at a place of the object or of the request."""
    mark = "MARK"
    marked: dict[str, bytes] = {
        "a label": create(labelled(trainjob(), {Q: mark})),
        "an unknown field": create(trainjob() | {"newer": mark}),
        "the request": create(trainjob(), newer=mark),
        "a toleration": update(
            child_job(suspend=False, tolerations=[{"key": mark}]),
            child_job(tolerations=[{"key": "a"}]),
        ),
        "a policy": update(
            user_jobset(successPolicy=mark), stored_jobset(user_jobset(successPolicy={"a": "b"}))
        ),
        "the uid": create(trainjob(), uid=mark),
        "the namespace": create(trainjob(), namespace=mark),
    }
    return _with(marked[place], mark, raw)


PLACES = [
    *("a label", "an unknown field", "the request", "a toleration", "a policy"),
    *("the uid", "the namespace"),
]

RAW: dict[str, bytes] = {
    "not a number": b"NaN",
    "infinity": b"-Infinity",
    "a number beyond floats": b"1e999",
    "a number of 5,000 digits": b"7" * 5000,
    "a number of a million digits": b"7" * 1_000_000,
    "a number with leading zeros": b"0007",
    "a fraction of 100,000 digits": b"0." + b"3" * 100_000,
    "invalid UTF-8": b'"\xff\xfe"',
    "an overlong encoding of a slash": b'"\xc0\xaf"',
    "half a surrogate pair": b'"\\ud800"',
    "a pair the wrong way round": b'"\\udc00\\ud800"',
    "a NUL": b'"\\u0000"',
    "a raw control character": b'"\x01"',
    "two members of one name": b'{"a": 1, "a": {"a": 2}, "a": "b"}',
    "a member without a name": b'{"": {"": ""}}',
    "100,000 open brackets": b"[" * 100_000,
    "100,000 nested lists": b"[" * 100_000 + b"]" * 100_000,
    "100,000 nested objects": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "a text of a megabyte": b'"' + b"x" * 1_000_000 + b'"',
    "a text of control characters": json.dumps("\r\n\t\x1b[2J" * 100).encode(),
}


@pytest.mark.parametrize("place", PLACES)
@cases(RAW)
def test_odd_json_is_refused_or_answered(place: str, case: bytes) -> None:
    """Whatever JSON is or nearly is, at whatever place: no call ends as a server error."""
    answers(_in(place, case))


BODIES: dict[str, bytes] = {
    "UTF-16": create(trainjob()).decode().encode("utf-16"),
    "a byte order mark": b"\xef\xbb\xbf" + create(trainjob()),
    "two requests, of which the later counts": b"{%s, %s"
    % (create(child_job())[1:-1], create(trainjob())[1:]),
    "nothing but spaces": b" " * MAX_BYTES,
    "seven MiB of digits": b"1" * MAX_BYTES,
    "one byte too many": b" " * (MAX_BYTES + 1),
    "YAML": b"apiVersion: admission.k8s.io/v1\nkind: AdmissionReview\n",
    "a form": b"apiVersion=admission.k8s.io%2Fv1&kind=AdmissionReview",
}


@cases(BODIES)
def test_odd_bodies_are_refused_or_answered(case: bytes) -> None:
    """Other encodings, the largest body and one more byte."""
    answers(case)


DEPTHS = range(850, 1010)
"""Around what the decoder's and Python's recursion limits allow."""


@pytest.mark.parametrize("place", ["an unknown field", "a toleration", "a policy"])
def test_no_depth_falls_between_what_is_read_and_what_is_written(place: str) -> None:
    """What the decoder still takes, comparison and encoder take too."""
    server = Server()
    for depth in DEPTHS:
        body = _in(place, b'{"a":' * depth + b"1" + b"}" * depth)
        for path in PATHS:
            assert asyncio.run(server.post(body, path)).status_code in {200, 400}, depth
    assert server.reports.failures == []


def test_no_depth_is_too_much_to_compare() -> None:
    """Old and new hold the same deep value, which is compared before it is encoded."""
    server = Server()
    deep = {"key": "DEEP"}
    old = changed(child_job(), {"spec": {"template": {"spec": {"tolerations": [deep]}}}})
    more = {"template": {"spec": {"tolerations": [deep, {"key": "b"}]}}}
    new = changed(old, {"spec": {"suspend": False, **more}})
    body = update(new, old, user=JOBSET)
    for depth in DEPTHS:
        value = b'{"a":' * depth + b"1" + b"}" * depth
        answer = asyncio.run(server.post(body.replace(b'"DEEP"', value), "/mutate"))
        assert answer.status_code in {200, 400}, depth
    assert server.reports.failures == []


MISSHAPEN = ["uid", "kind", "resource", "namespace", "operation", "userInfo", "object", "oldObject"]


@pytest.mark.parametrize("key", MISSHAPEN)
@pytest.mark.parametrize("value", [None, 0, -1, 1.5, True, "", "x", [], [[]], {}, {"a": {}}])
def test_wrong_types_at_every_place_of_the_request(key: str, value: Any) -> None:
    """Each member of a request, of another type or empty, in each way through the rules."""
    for body in GOLDEN.values():
        whole = json.loads(body)
        whole["request"][key] = value
        answers(json.dumps(whole).encode())


quick = settings(
    max_examples=60,
    derandomize=True,
    report_multiple_bugs=False,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow],
)


@pytest.mark.parametrize("name", GOLDEN)
@quick
@given(data=st.data())
def test_bent_reviews_are_refused_or_answered(name: str, data: st.DataObject) -> None:
    """A good review with random JSON at up to two of its places, or without them."""
    answers(json.dumps(data.draw(bent(json.loads(GOLDEN[name])))).encode())


@st.composite
def broken(draw: st.DrawFn, body: bytes) -> bytes:
    """The body with up to three cuts, each replaced by bytes, JSON's own signs or its own parts."""
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(body)))
        end = start + draw(st.integers(0, 8))
        other = draw(st.integers(0, len(body)))
        filling = draw(
            st.binary(max_size=4)
            | st.sampled_from(
                [b"{", b"}", b"[", b"]", b'"', b":", b",", b"\\", b"null", b"-", b"1"]
            )
            | st.just(body[other : other + 40])
        )
        body = body[:start] + filling + body[end:]
    return body


@pytest.mark.parametrize("name", GOLDEN)
@quick
@given(data=st.data())
def test_broken_bytes_are_refused_or_answered(name: str, data: st.DataObject) -> None:
    """A good review with bytes cut out, put in and repeated."""
    answers(data.draw(broken(GOLDEN[name])))
