"""docs/reference/metrics.md: each metric as the live registry has it.

A family has samples, and so labels, only when something has happened: `_busy` lets everything
happen once. A metric that nothing has happened to is an error, so none is left out.
"""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Final

from prometheus_client.metrics_core import Metric
from structlog.testing import capture_logs

from docsite.tables import code, page, table
from webhook.metrics import BUCKETS
from webhook.rules import review
from webhook.rules.facts import Key
from webhook.rules.reasons import Reason
from webhook.rules.verdict import Verdict
from webhook.telemetry import Telemetry

INTRODUCTION: Final = """\
`GET /metrics` on port 8080. Names, types and labels are public contract. What to look at, and the
metrics of API servers that go with these, is told in [observability](../how-to/observability.md).
"""
VALUES: Final = """\
No label holds a namespace, a user, a name or any other text that a caller chooses, so the number of
series is bounded.
"""
STATUSES: Final = tuple(f"HTTP{status}" for status in (400, 408, 413, 415, 500, 503))

LABELS: Final[Mapping[str, str]] = {
    "resource": "Of a review: `trainjobs`, `jobsets`, `jobs`; `other` for anything else, `unknown` "
    "where the call was no review. Of a look-up: the plural of what was read.",
    "operation": "`CREATE`, `UPDATE`, `DELETE`, `CONNECT`; `unknown` where the call was no review.",
    "decision": "`allowed`, `patched`, `denied`; `refused` for a call that was malformed or found "
    "no place, `failed` for a bug.",
    "reason": f"One of the [reasons](reasons.md); of what is refused or failed {code(*STATUSES)}.",
    "lost": "`watch of trainjobs`, `watch of jobsets`, `watch of jobs`, `watch of workloads`, "
    "`write of a Workload`, `write of an Event`, `companion`.",
    "result": "`served`, `refused`.",
    "version": "Of kueue-steps.",
}
REVIEW: Final = {
    "apiVersion": "admission.k8s.io/v1",
    "kind": "AdmissionReview",
    "request": {
        "uid": "any",
        "kind": {"group": "batch", "version": "v1", "kind": "Job"},
        "resource": {"group": "batch", "version": "v1", "resource": "jobs"},
        "operation": "CREATE",
        "userInfo": {"username": "any"},
        "object": {"metadata": {}},
    },
}


def markdown() -> str:
    """The page."""
    found = sorted(families(), key=lambda family: family.name)
    used = {label for family in found for label in labels(family)}
    return page(
        "Metrics",
        "webhook/telemetry.py and docsite/metrics.py",
        INTRODUCTION,
        table(("metric", "type", "labels", "what it tells"), map(_row, found)),
        f"Buckets of histograms, in seconds: {code(*(f'{bound:g}' for bound in BUCKETS))}.",
        "## Labels",
        VALUES,
        table(("label", "values"), ((code(one), LABELS[one]) for one in sorted(used))),
    )


def families() -> Iterator[Metric]:
    """Every metric, each with a sample."""
    for family in _busy().registry.collect():
        if not family.samples:
            raise LookupError(f"{family.name} has no sample: let docsite.metrics._busy cause one")
        yield family


def labels(family: Metric) -> list[str]:
    """The labels of a metric, in their order."""
    return list(
        dict.fromkeys(key for sample in family.samples for key in sample.labels if key != "le")
    )


def name(family: Metric) -> str:
    """What Prometheus calls it."""
    return f"{family.name}_total" if family.type == "counter" else family.name


def _row(family: Metric) -> tuple[str, str, str, str]:
    return code(name(family)), family.type, code(*labels(family)), family.documentation


def _busy() -> Telemetry:
    """Telemetry to which everything has happened once."""
    telemetry = Telemetry()
    request = review.read(json.dumps(REVIEW).encode())
    with capture_logs():
        telemetry.watch_in_flight(lambda: 0)
        telemetry.reviewed("/mutate", request, Verdict(Reason.NOT_QUEUED), 0.001)
        telemetry.unreadable(Key("", "v1", "configmaps", "any"), "any")
        telemetry.companion_lost("companion", "any")
        telemetry.certificate_served(datetime.now(UTC), switched=False)
    return telemetry
