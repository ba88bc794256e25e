"""Reading the audit log while the API server writes it."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from localcluster import audit
from localcluster.kubernetes import audit_policy


def entry(**changes: Any) -> dict[str, Any]:
    """An entry as kube-apiserver 1.36 writes it, cut to what is read, with changes."""
    target = {
        "resource": "jobsets",
        "namespace": "team",
        "name": "train",
        "apiGroup": "jobset.x-k8s.io",
        "apiVersion": "v1alpha2",
        "subresource": "status",
    }
    return {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "Metadata",
        "stage": "ResponseComplete",
        "verb": "update",
        "user": {"username": "alice", "groups": ["users"]},
        "objectRef": target,
        "responseStatus": {"metadata": {}, "code": 200},
        "requestReceivedTimestamp": "2026-11-30T02:37:41.070471Z",
        "stageTimestamp": "2026-11-30T02:37:41.089085Z",
        "annotations": {"authorization.k8s.io/decision": "allow"},
        **changes,
    }


def lines(*entries: dict[str, Any]) -> str:
    """The entries as the log holds them."""
    return "".join(json.dumps(item) + "\n" for item in entries)


def test_an_entry_becomes_an_event(tmp_path: Path) -> None:
    """Every field of an event comes from the entry that the API server wrote."""
    log = tmp_path / "audit.jsonl"
    log.write_text(lines(entry()))
    assert list(audit.events(log)) == [
        audit.Event(
            verb="update",
            group="jobset.x-k8s.io",
            resource="jobsets",
            subresource="status",
            namespace="team",
            name="train",
            user="alice",
            code=200,
            received=datetime(2026, 11, 30, 2, 37, 41, 70471, tzinfo=UTC),
            answered=datetime(2026, 11, 30, 2, 37, 41, 89085, tzinfo=UTC),
            annotations={"authorization.k8s.io/decision": "allow"},
            end=log.stat().st_size,
        )
    ]


def test_reading_goes_on_from_an_offset(tmp_path: Path) -> None:
    """What was written before an offset is not read again."""
    log = tmp_path / "audit.jsonl"
    log.write_text(lines(entry(verb="create")))
    mark = audit.end(log)
    with log.open("a") as file:
        file.write(lines(entry(verb="patch"), entry(verb="delete")))
    first, second = audit.events(log, mark)
    assert (first.verb, second.verb) == ("patch", "delete")
    assert list(audit.events(log, first.end)) == [second]


def test_half_an_entry_waits(tmp_path: Path) -> None:
    """An entry that is still being written is left for the next time."""
    log = tmp_path / "audit.jsonl"
    whole, half = lines(entry(verb="create")), lines(entry(verb="patch"))
    log.write_text(whole + half[:40])
    (event,) = audit.events(log)
    log.write_text(whole + half)
    assert [later.verb for later in audit.events(log, event.end)] == ["patch"]


def test_a_missing_log_is_empty(tmp_path: Path) -> None:
    """Before the first write there is nothing to read, and that is no error."""
    log = tmp_path / "audit.jsonl"
    assert audit.end(log) == 0
    assert list(audit.events(log)) == []


def test_an_entry_may_lack_a_name_and_annotations(tmp_path: Path) -> None:
    """A create by POST has no name in its URL; that is not an error."""
    log = tmp_path / "audit.jsonl"
    bare = entry(objectRef={"resource": "jobs", "apiGroup": "batch"})
    del bare["annotations"]
    log.write_text(lines(bare))
    (event,) = audit.events(log)
    assert (event.name, event.namespace, event.subresource, event.annotations) == ("", "", "", {})


def test_only_writes_to_the_four_kinds_are_logged() -> None:
    """The policy logs writes to Jobs, JobSets, TrainJobs and Workloads, and drops the rest."""
    logged, rest = audit_policy()["rules"]
    resources = {name for group in logged["resources"] for name in group["resources"]}
    assert {"jobs", "jobs/status", "trainjobs", "jobsets/status", "workloads"} <= resources
    assert "get" not in logged["verbs"]
    assert rest == {"level": "None"}
