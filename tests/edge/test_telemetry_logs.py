"""What the real program writes: one JSON line for each review, whatever callers name."""

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.edge.program import Program, serving_program
from tests.rules.factories import Obj, Q, changed, child_job, trainjob, user_jobset
from tests.rules.reviews import UID, call, create
from webhook.logs import LONGEST_TEXT

DOCUMENT = Path(__file__).parents[2] / "docs" / "how-to" / "observability.md"
ANSWERED = {"review", "malformed review"}
SECRET = "hunter2-do-not-log"
FORGED = '\n{"event": "review", "reason": "Forged"}\r\n\x1b[2J\u2028\u202eend'


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """A server that writes to a file, and so writes JSON."""
    with serving_program(tmp_path_factory.mktemp("program")) as program:
        yield program


def _post(program: Program, body: bytes) -> None:
    with program.client() as client:
        headers = {"content-type": "application/json"}
        client.post(program.url("/mutate"), content=body, headers=headers)


def _posted(program: Program, *bodies: bytes) -> list[dict[str, Any]]:
    """The lines that the server writes while it answers these calls, the one of each included."""
    seen = len(program.lines)
    for body in bodies:
        _post(program, body)
    end = time.monotonic() + 10
    while True:  # It answers first and writes then.
        entries = [json.loads(line) for line in program.lines[seen:]]
        if sum(entry["event"] in ANSWERED for entry in entries) == len(bodies):
            return entries
        assert time.monotonic() < end, entries
        time.sleep(0.01)


def _answered(program: Program, body: bytes) -> dict[str, Any]:
    """The one line of a call."""
    (entry,) = (entry for entry in _posted(program, body) if entry["event"] in ANSWERED)
    return entry


def test_a_review_is_one_line_that_says_what_was_decided_and_why(program: Program) -> None:
    """Who did what to which object, the decision, its reason and its time."""
    entry = _answered(program, create(child_job(suspend=False), name="tune-a-node-0"))
    assert 0 < entry.pop("seconds") < 60
    assert entry.pop("timestamp").endswith("Z")
    assert entry == {
        "event": "review",
        "level": "info",
        "path": "/mutate",
        "uid": UID,
        "resource": "jobs",
        "operation": "CREATE",
        "namespace": "team-a",
        "name": "tune-a-node-0",
        "user": "jane@example.com",
        "decision": "patched",
        "reason": "Held",
    }


def test_an_object_without_a_name_yet_is_logged_by_its_prefix(program: Program) -> None:
    """With generateName the API server chooses the name after us."""
    nameless = changed(user_jobset(), {"metadata": {"name": None, "generateName": "nightly-"}})
    entry = _answered(program, create(nameless, name=""))
    assert (entry["name"], entry["generate_name"]) == ("", "nightly-")


NAMELESS: dict[str, bytes] = {
    "of a deleted object": call("DELETE", None, child_job(), name=""),
    "of an odd object": create({"metadata": 1}, name=""),
}


@pytest.mark.parametrize("body", NAMELESS.values(), ids=NAMELESS.keys())
def test_a_review_without_any_name_is_logged_all_the_same(program: Program, body: bytes) -> None:
    """A prefix that can't be read is left empty."""
    entry = _answered(program, body)
    assert (entry["name"], entry["generate_name"]) == ("", "")


def test_a_refused_object_is_logged_with_what_its_user_was_told(program: Program) -> None:
    """The decision `denied`, and the message."""
    entry = _answered(program, create(trainjob({Q: "Team_A"})))
    assert (entry["decision"], entry["reason"]) == ("denied", "InvalidValue")
    assert entry["denial"].startswith(f'metadata.labels[{Q}]: Invalid value: "Team_A": ')


def test_a_malformed_call_is_logged_as_one(program: Program) -> None:
    """Its status and what was wrong with it."""
    entry = _answered(program, b"[]")
    assert (entry["event"], entry["level"]) == ("malformed review", "warning")
    assert (entry["code"], entry["path"]) == (400, "/mutate")
    assert entry["problem"].startswith("The body is not a readable AdmissionReview: ")


def test_dry_runs_are_marked(program: Program) -> None:
    """A dry run is logged as one."""
    assert _answered(program, create(trainjob(), dryRun=True))["dry_run"] is True


def test_objects_are_not_logged(program: Program) -> None:
    """Nothing of specs, of foreign labels and annotations, or of the user's groups is written."""
    environment = [{"name": "TOKEN", "value": SECRET}]
    job = child_job({"example.com/l": SECRET}, {"example.com/a": SECRET})
    job["spec"]["template"]["spec"]["containers"][0]["env"] = environment
    user = {"username": "jane", "groups": [SECRET], "extra": {"token": [SECRET]}}
    whole = changed(trainjob(), {"spec": {"trainer": {"env": environment}}})
    for item in (job, whole, user_jobset({"example.com/l": SECRET, Q: "gpu"})):
        _answered(program, create(item, userInfo=user))
    _answered(program, SECRET.encode())
    assert SECRET not in program.log.read_text()


def _naming(name: str) -> Iterator[bytes]:
    """Reviews that carry a text wherever a log line takes something from a review."""
    resource = {"group": "batch", "version": "v1", "resource": name}
    for member in ({"name": name}, {"namespace": name}, {"uid": name}, {"resource": resource}):
        yield create(trainjob(), **member)
    yield create(trainjob(), user=name)
    yield create(trainjob({Q: name}))
    nameless: Obj = changed(trainjob(), {"metadata": {"name": None, "generateName": name}})
    yield create(nameless, name="")
    yield create(trainjob(runtimeRef={"name": name}))
    yield json.dumps({"apiVersion": name, "kind": name, "request": 1}).encode()


def test_nobody_forges_a_line(program: Program) -> None:
    """Line breaks and control characters in what callers name stay within their call's line."""
    entries = _posted(program, *_naming(FORGED))
    for value in (value for entry in entries for value in entry.values()):
        assert not isinstance(value, str) or value.isprintable()


CONSOLE = """
import sys
from webhook.rules import review
from webhook.rules.reasons import Reason
from webhook.rules.verdict import Verdict
from webhook.sections import LogSection
from webhook.logs import configure
from webhook.telemetry import Telemetry
configure(LogSection(format="console"))
request = review.read(sys.stdin.buffer.read())
Telemetry().reviewed("/mutate", request, Verdict(Reason.STEPPED, warnings=(request.uid,)), 0.1)
"""
COLOURS = re.compile(r"\x1b\[\d+m")


def test_nobody_forges_a_line_on_a_terminal() -> None:
    """The readable format keeps to one line too, and passes no escape sequence on."""
    body = create(trainjob(), user=FORGED, namespace=FORGED, name=FORGED, uid=FORGED)
    run = subprocess.run(
        [sys.executable, "-c", CONSOLE], input=body, capture_output=True, check=True
    )
    assert COLOURS.sub("", run.stderr.decode().removesuffix("\n")).isprintable()


def test_what_is_logged_is_bounded(program: Program) -> None:
    """Texts of a megabyte in every place make lines of some hundred characters."""
    entries = _posted(program, *_naming("x" * 1_000_000))
    assert max(len(json.dumps(entry)) for entry in entries) < 4 * LONGEST_TEXT


BUG = """
from webhook.sections import LogSection
from webhook.logs import configure
from webhook.telemetry import Telemetry
configure(LogSection(format="json"))
try:
    raise ValueError("a bug\\nof ours \\udcff \\u2028 \\u202e é")
except ValueError as error:
    Telemetry().failed("/mutate", error)
import logging
logging.getLogger("uvicorn.error").warning("a library's\\nown %s", "line")
"""


def test_a_bug_is_one_line_with_its_traceback() -> None:
    """The traceback is in the line of the review that failed; libraries' lines are JSON too.

    An error may quote what is no text, such as the name of a file.
    """
    run = subprocess.run([sys.executable, "-c", BUG], capture_output=True, text=True, check=True)
    bug, library = (json.loads(line) for line in run.stderr.splitlines())
    assert (bug["event"], bug["level"], bug["path"]) == ("review failed", "error", "/mutate")
    assert "ValueError: a bug" in bug["exception"]
    assert "\udcff \u2028 \u202e é" in bug["exception"]
    assert run.stderr.isascii()
    assert (library["event"], library["level"]) == ("a library's\\nown line", "warning")


def test_the_documentation_lists_the_keys_of_a_review(program: Program) -> None:
    """docs/how-to/observability.md explains each key of a review's line, and no other."""
    bodies = (
        create(trainjob({Q: "Team_A"})),
        create(trainjob(), dryRun=True),
        create(changed(user_jobset(), {"metadata": {"name": None}}), name=""),
    )
    keys = {key for body in bodies for key in _answered(program, body)}
    (table,) = re.findall(r"## Logs.*?(?=\n## )", DOCUMENT.read_text(), re.DOTALL)
    assert set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == keys
