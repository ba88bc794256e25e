"""What the load generator says, and whether it is believed."""

import base64
import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bench.errors import Unmeasured
from bench.latency.errors import WrongAnswer
from bench.latency.figures import figures
from bench.latency.generator import Load, Shot, Target, arguments, denials, listing, read
from bench.spread import percentile

BEGIN = datetime.fromisoformat("2026-01-01T00:00:00+00:00")
MILLISECOND = 1_000_000


def answer(uid: str, *, allowed: bool = True) -> bytes:
    """A review's answer."""
    return json.dumps({"response": {"uid": uid, "allowed": allowed}}).encode()


def shot(after: float = 0.0, milliseconds: float = 1.0, **changes: Any) -> Shot:
    """A request that was answered well, so many seconds after the begin."""
    usual: dict[str, Any] = {
        "code": 200,
        "timestamp": BEGIN + timedelta(seconds=after),
        "latency": int(milliseconds * MILLISECOND),
        "error": "",
        "body": answer("a"),
    }
    return Shot(**usual | changes)


def test_every_line_of_vegeta_is_a_request() -> None:
    """Its JSON is read with its nanoseconds and the body in base64."""
    line = {
        "attack": "",
        "seq": 5,
        "code": 200,
        "timestamp": "2026-01-01T00:00:00.123456789Z",
        "latency": 1234567,
        "bytes_out": 6508,
        "bytes_in": 400,
        "error": "",
        "body": base64.b64encode(answer("a")).decode(),
        "method": "POST",
        "url": "https://127.0.0.1/mutate",
        "headers": {},
    }
    text = f"{json.dumps(line)}\n".encode()
    (first, second) = read(text * 2)
    assert first == second
    assert (first.latency, first.body) == (1234567, answer("a"))
    assert first.timestamp == BEGIN + timedelta(microseconds=123457)


def test_targets_are_posted_as_an_api_server_posts() -> None:
    """Each has its headers and its file, and an empty line between them."""
    targets = [Target("https://h/a", Path("/x"), "a"), Target("https://h/b", Path("/y"), "b")]
    first, second = listing(targets).split("\n\n")
    assert first.splitlines()[0] == "POST https://h/a"
    assert "Content-Type: application/json" in first
    assert first.splitlines()[-1] == "@/x"
    assert second.splitlines()[0] == "POST https://h/b"


def test_a_closed_loop_has_as_many_askers_as_connections() -> None:
    """An open one may have more, that wait for a connection."""
    closed = arguments(Load(25, 2.5), Path("t"), Path("o"))
    opened = arguments(Load(25, 2.5, rate=1000), Path("t"), Path("o"))
    assert {"-rate=0", "-max-workers=25", "-duration=2.5s", "-http2=false"} <= set(closed)
    assert {"-rate=1000", "-max-connections=25"} <= set(opened)
    assert not any(item.startswith("-max-workers") for item in opened)


WRONG = {
    "no answer at all": ([], "not one"),
    "a status other than 200": ([shot(code=500)], "HTTP 500"),
    "a connection that broke": ([shot(code=0, error="EOF")], "EOF"),
    "another review's uid": ([shot(body=answer("z"))], "not the answer"),
    "no JSON": ([shot(body=b"oops")], "not a review"),
    "no response in it": ([shot(body=b"{}")], "not a review"),
    "one review's answer to another": ([shot(), shot()], "to other reviews"),
}


@pytest.mark.parametrize("sentence", WRONG)
def test_a_wrong_answer_ends_the_run(sentence: str) -> None:
    """No figure is made of answers that are none."""
    shots, message = WRONG[sentence]
    with pytest.raises(WrongAnswer, match=message):
        denials(shots, ["a", "b"])


def test_a_review_may_be_asked_more_often_than_another() -> None:
    """As often as it stands among the targets."""
    two, one = shot(), shot(body=answer("b"))
    assert denials([two, two, one, two], ["a", "a", "b"]) == 0
    with pytest.raises(WrongAnswer, match="to other reviews"):
        denials([two, one, one], ["a", "a", "b"])


def test_denials_are_counted() -> None:
    """A denial is an answer, but not the one that was wanted."""
    shots = [shot(), shot(body=answer("b", allowed=False))]
    assert denials(shots, ["a", "b"]) == 1


@pytest.mark.parametrize(
    ("share", "expected"), [(0.5, 50), (0.99, 99), (0.999, 100), (1.0, 100), (0.0, 1)]
)
def test_a_percentile_is_one_of_the_values(share: float, expected: int) -> None:
    """The smallest that so many do not exceed."""
    assert percentile(range(1, 101), share) == expected


def test_figures_leave_the_warm_up_out() -> None:
    """Slow handshakes at the begin count for nothing."""
    shots = [shot(0.0, 900), *(shot(1 + n / 100, 2) for n in range(100))]
    found = figures(shots, seconds=2.0, warm_up=1.0)
    assert (found.reviews, found.per_second) == (100, 100.0)
    assert (found.p50, found.p99, found.longest) == (2.0, 2.0, 2.0)


def test_late_answers_count_for_latency_and_not_for_throughput() -> None:
    """A server that falls behind is not paid for what it answers after the end."""
    shots = [shot(), *(shot(1 + n / 10, 5000) for n in range(10))]
    found = figures(shots, seconds=2.0, warm_up=1.0)
    assert (found.per_second, found.p50) == (0.0, 5000.0)


def test_nothing_after_the_warm_up_is_no_measurement() -> None:
    """The reader is told what to change."""
    with pytest.raises(Unmeasured, match="longer"):
        figures([shot()], seconds=2.0, warm_up=1.0)
