"""The report: stable documents for programs, lines for people, the worst first."""

import json

import yaml

from tests.doctor.health import healthy
from webhook import __version__
from webhook.doctor import questions
from webhook.doctor.findings import Check, Finding, Note, Severity, error, info
from webhook.doctor.report import rendered

FINDINGS = [
    Finding(Check.KUEUE_API, Note(Severity.OK, "Kueue", "Its kinds are served.")),
    Finding(Check.TRAINER_API, info("Trainer", "It is not there.")),
    Finding(Check.PAUSES, error("Workload a/b", "It waits.", "Look at it.")),
]
DOCUMENT = {
    "version": __version__,
    "summary": {"error": 1, "warning": 0, "info": 1, "ok": 1},
    "findings": [
        {
            "check": "Pauses",
            "severity": "error",
            "object": "Workload a/b",
            "message": "It waits.",
            "remedy": "Look at it.",
        },
        {
            "check": "TrainerApi",
            "severity": "info",
            "object": "Trainer",
            "message": "It is not there.",
            "remedy": "",
        },
        {
            "check": "KueueApi",
            "severity": "ok",
            "object": "Kueue",
            "message": "Its kinds are served.",
            "remedy": "",
        },
    ],
}
TABLE = """\
error   Pauses      Workload a/b: It waits.
                    > Look at it.
info    TrainerApi  Trainer: It is not there.
ok      KueueApi    Kueue: Its kinds are served.

error 1, warning 0, info 1, ok 1"""


def test_json_and_yaml_are_the_same_document() -> None:
    """Version, summary and findings."""
    assert json.loads(rendered(FINDINGS, "json")) == DOCUMENT
    assert yaml.safe_load(rendered(FINDINGS, "yaml")) == DOCUMENT


def test_the_table_has_a_line_for_each_finding() -> None:
    """What is to be done stands below it."""
    assert rendered(FINDINGS, "table") == TABLE


def test_equal_severities_stay_in_the_order_of_the_checks() -> None:
    """A report of the same cluster always reads the same."""
    patient = healthy()
    patient.absent |= {questions.KUEUE_API, questions.JOBSET_API}
    first = json.loads(rendered(patient.findings(), "json"))["findings"][:2]
    assert [item["check"] for item in first] == ["KueueApi", "JobSetApi"]


def test_what_others_say_can_not_steer_a_terminal() -> None:
    """Control sequences are escapes, and a line break forges no finding."""
    said = "bad\nok      KueueApi    Kueue: all\x1b[2J is\u202e well"
    [first, second, *_] = rendered(
        [Finding(Check.PAUSES, error("Pod a", said, said))], "table"
    ).split("\n")
    shown = r"bad ok KueueApi Kueue: all\x1b[2J is\u202e well"
    assert first == f"error   Pauses  Pod a: {shown}"
    assert second.strip() == f"> {shown}"
    assert rendered([Finding(Check.PAUSES, error("Pod a", said, said))], "json").isascii()
