"""Queries of alerts and dashboard parse, and name only what the code counts."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.manifests.monitoring import ALERTS, DASHBOARD, promtool, written
from webhook.telemetry import Telemetry


@pytest.mark.tools
def test_the_dashboards_queries_are_valid(tmp_path: Path) -> None:
    """Each parses once Grafana has put in its variables."""
    rules = [
        {"record": f"panel:query:{number}", "expr": expression}
        for number, expression in enumerate(_dashboard())
    ]
    assert rules
    groups = {"groups": [{"name": "dashboard", "rules": rules}]}
    promtool("check", "rules", written(tmp_path / "dashboard.yaml", groups))


def _dashboard() -> Iterator[str]:
    filled = {"$__rate_interval": "5m", "$__range": "3h", "$namespace": ".*"}
    for panel in DASHBOARD["panels"]:
        for target in panel["targets"]:
            expression = target["expr"]
            for variable, value in filled.items():
                expression = expression.replace(variable, value)
            yield expression


def _known() -> dict[str, set[str]]:
    """Our metrics, as scraped, with the labels that they have."""
    telemetry = Telemetry()
    telemetry.certificate_served(datetime.now(tz=UTC), switched=False)
    telemetry.watch_in_flight(lambda: 0)
    # The client has no public way to ask for metrics that were not counted yet.
    collectors = vars(telemetry.registry)["_names_to_collectors"]
    return {name: set(vars(collector)["_labelnames"]) for name, collector in collectors.items()}


def test_results_of_certificates_are_those_that_are_counted() -> None:
    """The alert's result is one that the metric has."""
    (result,) = re.findall(r'result="(\w+)"', ALERTS["KueueStepsCertificateNotLoaded"]["expr"])
    assert f'{{result="{result}"}}' in Telemetry().metrics().decode()


SCRAPED = {"job", "namespace", "pod", "le"}
"""Labels that Prometheus or the kind of metric adds."""


@pytest.mark.parametrize("expression", [*_dashboard(), *(rule["expr"] for rule in ALERTS.values())])
def test_queries_name_only_metrics_and_labels_that_there_are(expression: str) -> None:
    """A metric that the code does not have would be an empty panel or an alert that never fires."""
    known = _known()
    ours = re.findall(r"\bkueue_steps_\w+", expression)
    assert set(ours) <= known.keys()
    if ours:
        grouped = re.findall(r"\bby \(([^)]*)\)", expression)
        matched = re.findall(r"(\w+)(?:=~|!=|!~|=)\"", expression)
        used = {label.strip() for group in grouped for label in group.split(",")} | set(matched)
        assert used <= SCRAPED.union(*(known[name] for name in ours))
