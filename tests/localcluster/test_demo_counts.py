"""How reviews and writes are counted, from logs as they are written."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from localcluster.audit import Event
from localcluster.demo import counts

JOBSET = "system:serviceaccount:jobset-system:jobset-controller-manager"
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
UPDATE = Event(
    verb="update",
    group="batch",
    resource="jobs",
    subresource="",
    namespace="stepped",
    name="train-a-node-0",
    user=JOBSET,
    code=200,
    received=NOON,
    answered=NOON,
    annotations={},
    end=0,
)


def test_reviews_are_counted_by_namespace(tmp_path: Path) -> None:
    """Other namespaces, other events and lines that are not JSON do not count."""
    log = tmp_path / "webhook.log"
    entries = [
        {"event": "review", "namespace": "stepped"},
        {"event": "review", "namespace": "stepped"},
        {"event": "review", "namespace": "other"},
        {"event": "look-up failed", "namespace": "stepped"},
        {"event": "ready"},
    ]
    log.write_text("Traceback\n" + "".join(f"{json.dumps(entry)}\n" for entry in entries))
    assert counts.reviews(log, "stepped") == 2


def test_a_webhook_that_never_ran_answered_nothing(tmp_path: Path) -> None:
    """Without a log there were no reviews."""
    assert counts.reviews(tmp_path / "webhook.log", "whole") == 0


def test_only_accepted_writes_of_jobs_themselves_count() -> None:
    """Create, update and patch count; status writes, refusals, deletes and other kinds do not."""
    counted = [UPDATE, replace(UPDATE, verb="create", code=201), replace(UPDATE, verb="patch")]
    not_counted = [
        replace(UPDATE, subresource="status"),
        replace(UPDATE, code=409),
        replace(UPDATE, verb="delete"),
        replace(UPDATE, resource="jobsets", group="jobset.x-k8s.io"),
        replace(UPDATE, namespace="whole"),
    ]
    assert counts.job_writes(counted + not_counted, "stepped") == 3


def test_starts_are_counted_for_each_job() -> None:
    """The Job that JobSet wrote to most often decides; creation and other users do not count."""
    other = replace(UPDATE, name="train-b-node-0")
    by_kueue = replace(UPDATE, user="kueue", verb="patch")
    created = replace(UPDATE, verb="create", code=201)
    events = [created, UPDATE, UPDATE, other, by_kueue, by_kueue]
    assert counts.most_starts(events, "stepped") == 2
    assert counts.most_starts([], "stepped") == 0
