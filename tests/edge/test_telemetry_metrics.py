"""The metrics as a public contract, with labels that no caller can multiply."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families

from tests.rules.reviews import call
from webhook.http.intake import Overloaded
from webhook.rules import review
from webhook.rules.errors import BadReview
from webhook.rules.facts import Key
from webhook.rules.reasons import Reason
from webhook.rules.verdict import Verdict
from webhook.telemetry import Telemetry

DOCUMENT = Path(__file__).parents[2] / "docs" / "reference" / "metrics.md"

Shape = tuple[str, frozenset[str]]
"""Type and labels of a metric."""

CONTRACT: dict[str, Shape] = {
    "kueue_steps_admission_requests_total": (
        "counter",
        frozenset({"resource", "operation", "decision", "reason"}),
    ),
    "kueue_steps_admission_duration_seconds": (
        "histogram",
        frozenset({"resource", "operation"}),
    ),
    "kueue_steps_admission_in_flight": ("gauge", frozenset()),
    "kueue_steps_lookup_failures_total": ("counter", frozenset({"resource"})),
    "kueue_steps_companion_errors_total": ("counter", frozenset({"lost"})),
    "kueue_steps_certificate_expiry_timestamp_seconds": ("gauge", frozenset()),
    "kueue_steps_certificate_reloads_total": ("counter", frozenset({"result"})),
    "kueue_steps_build_info": ("gauge", frozenset({"version"})),
}


def _families(telemetry: Telemetry) -> Iterator[Metric]:
    """What Prometheus reads; the times of creation beside counters are no metrics of ours."""
    for family in text_string_to_metric_families(telemetry.metrics().decode()):
        if not family.name.endswith("_created"):
            yield family


def _shapes(telemetry: Telemetry) -> dict[str, Shape]:
    shapes: dict[str, Shape] = {}
    for family in _families(telemetry):
        name = f"{family.name}_total" if family.type == "counter" else family.name
        labels = {label for sample in family.samples for label in sample.labels} - {"le"}
        shapes[name] = (family.type, frozenset(labels))
    return shapes


def _after_everything() -> Telemetry:
    """Telemetry that was told of all that it can be told of."""
    telemetry = Telemetry()
    request = review.read(call("CREATE", {"metadata": {}}, None))
    telemetry.reviewed("/mutate", request, Verdict(Reason.NOT_QUEUED), 0.001)
    telemetry.refused("/mutate", BadReview("It is empty."))
    telemetry.overloaded("/mutate", Overloaded("It is full."))
    telemetry.failed("/mutate", ValueError("a bug"))
    telemetry.watch_in_flight(lambda: 0)
    telemetry.unreadable(Key("", "v1", "configmaps", "a", "b"), "403")
    telemetry.workload_switched("team-a", "job-a", "deactivate")
    telemetry.companion_lost("watch of jobs", "410 Gone")
    telemetry.certificate_served(datetime.now(UTC), switched=False)
    telemetry.certificate_refused("expired")
    return telemetry


def test_names_labels_and_types_are_the_contract() -> None:
    """Whatever happens, these are the metrics: a change of one is a breaking change."""
    assert _shapes(_after_everything()) == CONTRACT


def test_the_documentation_lists_the_contract() -> None:
    """docs/reference/metrics.md has one row for each metric, with its type and labels."""
    row = re.compile(r"^\| `(kueue_steps_\w+)` \| (\w+) \| ([^|]*) \|", re.MULTILINE)
    documented = {
        name: (kind, frozenset(re.findall(r"`(\w+)`", labels)))
        for name, kind, labels in row.findall(DOCUMENT.read_text())
    }
    assert documented == CONTRACT


def test_a_caller_cannot_make_new_series() -> None:
    """A thousand reviews of invented resources, users and names are one line of the metrics."""
    telemetry = Telemetry()
    for number in range(1000):
        resource = {"group": f"g{number}", "version": "v1", "resource": f"r{number}"}
        body = call(
            "CREATE",
            {"metadata": {}},
            None,
            user=f"u{number}",
            resource=resource,
            namespace=f"n{number}",
            name=f"x{number}",
        )
        telemetry.reviewed("/mutate", review.read(body), Verdict(Reason.OTHER_RESOURCE), 0.001)
    (requests,) = [f for f in _families(telemetry) if f.name == "kueue_steps_admission_requests"]
    counted = [sample for sample in requests.samples if sample.name.endswith("_total")]
    assert [sample.value for sample in counted] == [1000]
    assert counted[0].labels["resource"] == "other"


RESOURCES = {
    "ours": (("batch", "jobs"), "jobs"),
    "ours by name in another group": (("example.com", "jobs"), "other"),
    "somebody else's": (("", "pods"), "other"),
}


@pytest.mark.parametrize(("resource", "label"), RESOURCES.values(), ids=RESOURCES.keys())
def test_the_resource_is_one_of_ours_or_other(resource: tuple[str, str], label: str) -> None:
    """The three kinds go by their plural names, anything else is `other`."""
    telemetry = Telemetry()
    named = {"group": resource[0], "version": "v1", "resource": resource[1]}
    request = review.read(call("UPDATE", {}, {}, resource=named))
    telemetry.reviewed("/mutate", request, Verdict(Reason.UNCHANGED), 0.001)
    assert f'resource="{label}"' in telemetry.metrics().decode()


def test_what_the_companion_lost_is_counted() -> None:
    """Each lost watch or write counts under what it was."""
    telemetry = Telemetry()
    for what in ("watch of jobs", "watch of jobs", "write of an Event"):
        telemetry.companion_lost(what, "why")
    value = telemetry.registry.get_sample_value
    name = "kueue_steps_companion_errors_total"
    assert value(name, {"lost": "watch of jobs"}) == 2
    assert value(name, {"lost": "write of an Event"}) == 1


def test_audit_annotations_have_a_valid_key_and_the_reason() -> None:
    """The API server puts the webhook's name before the key; the value is the reason's word."""
    request = review.read(call("CREATE", {"metadata": {}}, None))
    for reason in Reason:
        answer = json.loads(review.write(request, Verdict(reason)))["response"]
        assert answer["auditAnnotations"] == {"decision": reason.value}
        for key in answer["auditAnnotations"]:
            assert re.fullmatch(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?", key)
