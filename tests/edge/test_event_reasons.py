"""The reasons of Events: which are warnings, and that the documentation has them all."""

from pathlib import Path

import pytest

from webhook.rules.reasons import EventReason

WARNINGS = {EventReason.STEP_FAILED, EventReason.STEP_EVICTED}


@pytest.mark.parametrize("reason", EventReason)
def test_failures_and_evictions_are_warnings(reason: EventReason) -> None:
    """Everything else is how things go."""
    assert reason.is_warning == (reason in WARNINGS)


DOCUMENT = Path(__file__).parents[2] / "docs" / "how-to" / "observability.md"


def test_the_documentation_lists_every_reason() -> None:
    """docs/how-to/observability.md has one row for each, with its type."""
    section = DOCUMENT.read_text().split("\n## Events\n")[1].split("\n## ")[0]
    rows = [line.split("|")[1:3] for line in section.splitlines() if line.startswith("| `")]
    documented = {reason.strip(" `"): kind.strip() for reason, kind in rows}
    assert documented == {
        reason.value: "Warning" if reason.is_warning else "Normal" for reason in EventReason
    }
