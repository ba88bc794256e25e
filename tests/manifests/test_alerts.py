"""Each alert fires when it should and only then, as promtool evaluates it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.manifests.monitoring import ALERTS, RULES, promtool, written

pytestmark = pytest.mark.tools

READY = 'kube_deployment_status_replicas_ready{namespace="n",deployment="kueue-steps"}'
WANTED = 'kube_deployment_spec_replicas{namespace="n",deployment="kueue-steps"}'
UP = 'up{job="kueue-steps",pod="a"}'
EXPIRY = 'kueue_steps_certificate_expiry_timestamp_seconds{pod="a"}'
DAY = 24 * 60 * 60


def _rejections(name: str, error_type: str) -> str:
    return f'apiserver_admission_webhook_rejection_count{{name="{name}",error_type="{error_type}"}}'


def _reviews(decision: str, reason: str) -> str:
    labels = f'decision="{decision}",reason="{reason}"'
    return f"kueue_steps_admission_requests_total{{{labels}}}"


def _duration(le: str) -> str:
    return f'kueue_steps_admission_duration_seconds_bucket{{le="{le}"}}'


@dataclass(frozen=True)
class Case:
    """Series in promtool's notation, one value a minute, and the alert that fires or doesn't."""

    alert: str
    fires: bool
    series: Mapping[str, str]


GROWS = "0+1x60"
STANDS = "7x60"

CASES = {
    "no replica answers": Case("KueueStepsUnreachable", True, {UP: "0x60"}),
    "nobody is scraped": Case("KueueStepsUnreachable", True, {"up": "1x60"}),
    "one of two replicas answers": Case(
        "KueueStepsUnreachable", False, {UP: "1x60", UP.replace('"a"', '"b"'): "0x60"}
    ),
    "a Deployment without ready replicas": Case("KueueStepsNoReadyReplica", True, {READY: "0x60"}),
    "a Deployment with one": Case("KueueStepsNoReadyReplica", False, {READY: "1x60"}),
    "another Deployment without": Case(
        "KueueStepsNoReadyReplica", False, {READY.replace("kueue-steps", "other"): "0x60"}
    ),
    "one ready of two": Case("KueueStepsOneReplica", True, {READY: "1x60", WANTED: "2x60"}),
    "one ready of one": Case("KueueStepsOneReplica", False, {READY: "1x60", WANTED: "1x60"}),
    "one ready for five minutes": Case(
        "KueueStepsOneReplica", False, {READY: "2x55 1x4", WANTED: "2x60"}
    ),
    "calls time out": Case(
        "KueueStepsCallsFail",
        True,
        {_rejections("jobs.kueue-steps.io", "calling_webhook_error"): GROWS},
    ),
    "patches don't apply": Case(
        "KueueStepsCallsFail",
        True,
        {_rejections("trainjobs.kueue-steps.io", "apiserver_internal_error"): GROWS},
    ),
    "objects are refused for good reasons": Case(
        "KueueStepsCallsFail", False, {_rejections("jobs.kueue-steps.io", "no_error"): GROWS}
    ),
    "calls of Kueue's time out": Case(
        "KueueStepsCallsFail", False, {_rejections("mjob.kb.io", "calling_webhook_error"): GROWS}
    ),
    "a condition can't be evaluated": Case(
        "KueueStepsConditionsFail",
        True,
        {
            "apiserver_admission_match_condition_evaluation_errors_total"
            '{name="jobs.kueue-steps.io"}': GROWS
        },
    ),
    "a condition of another's can't be evaluated": Case(
        "KueueStepsConditionsFail",
        False,
        {"apiserver_admission_match_condition_evaluation_errors_total{name='x.io'}": GROWS},
    ),
    "a bug": Case("KueueStepsErrors", True, {_reviews("failed", "HTTP500"): GROWS}),
    "a stranger calls": Case("KueueStepsErrors", True, {_reviews("refused", "HTTP400"): GROWS}),
    "denials": Case("KueueStepsErrors", False, {_reviews("denied", "InvalidValue"): GROWS}),
    "an old bug": Case("KueueStepsErrors", False, {_reviews("failed", "HTTP500"): STANDS}),
    "every second review takes two seconds": Case(
        "KueueStepsSlow",
        True,
        {_duration("0.5"): "0+5x60", _duration("2.5"): "0+10x60", _duration("+Inf"): "0+10x60"},
    ),
    "one review in a thousand does": Case(
        "KueueStepsSlow",
        False,
        {
            _duration("0.5"): "0+999x60",
            _duration("2.5"): "0+1000x60",
            _duration("+Inf"): "0+1000x60",
        },
    ),
    "reads fail": Case(
        "KueueStepsLookupsFail", True, {'kueue_steps_lookup_failures_total{resource="x"}': GROWS}
    ),
    "a read failed once": Case(
        "KueueStepsLookupsFail",
        False,
        {'kueue_steps_lookup_failures_total{resource="x"}': "0x30 1x30"},
    ),
    "a certificate of two days": Case(
        "KueueStepsCertificateExpires", True, {EXPIRY: f"{2 * DAY}x60"}
    ),
    "one replica still has the old certificate": Case(
        "KueueStepsCertificateExpires",
        True,
        {EXPIRY: f"{2 * DAY}x60", EXPIRY.replace('"a"', '"b"'): f"{90 * DAY}x60"},
    ),
    "a certificate of a month": Case(
        "KueueStepsCertificateExpires", False, {EXPIRY: f"{30 * DAY}x60"}
    ),
    "a pair that can't be loaded": Case(
        "KueueStepsCertificateNotLoaded",
        True,
        {'kueue_steps_certificate_reloads_total{result="refused"}': "0x20 1x39"},
    ),
    "pairs that can": Case(
        "KueueStepsCertificateNotLoaded",
        False,
        {'kueue_steps_certificate_reloads_total{result="served"}': GROWS},
    ),
    "a companion that fails": Case(
        "KueueStepsCompanionFails", True, {"kueue_steps_companion_errors_total": GROWS}
    ),
    "a companion that failed": Case(
        "KueueStepsCompanionFails", False, {"kueue_steps_companion_errors_total": STANDS}
    ),
}


def _as_promtool_reads_it(case: Case) -> dict[str, Any]:
    firing = f'count(ALERTS{{alertname="{case.alert}",alertstate="firing"}}) or vector(0)'
    return {
        "interval": "1m",
        "input_series": [{"series": key, "values": value} for key, value in case.series.items()],
        "promql_expr_test": [
            {
                "expr": firing,
                "eval_time": "59m",
                "exp_samples": [{"labels": "{}", "value": int(case.fires)}],
            }
        ],
    }


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_an_alert_fires_when_it_should_and_only_then(case: Case, tmp_path: Path) -> None:
    """After an hour of these series the alert fires, or doesn't."""
    rules = written(tmp_path / "rules.yaml", RULES)
    content = {"rule_files": [rules.name], "tests": [_as_promtool_reads_it(case)]}
    promtool("test", "rules", written(tmp_path / "test.yaml", content))


def test_every_alert_has_cases_of_both_kinds() -> None:
    """No alert is without a case in which it fires and one in which it doesn't."""
    wanted = {(name, fires) for name in ALERTS for fires in (True, False)}
    assert wanted == {(case.alert, case.fires) for case in CASES.values()}


def test_rules_are_valid_and_say_what_to_do(tmp_path: Path) -> None:
    """Promtool finds no fault, and each alert says what is wrong, what follows and what to do."""
    promtool("check", "rules", "--lint-fatal", written(tmp_path / "rules.yaml", RULES))
    for rule in ALERTS.values():
        assert set(rule["annotations"]) == {"summary", "description", "action"}
        assert rule["labels"]["severity"] in {"critical", "warning"}
