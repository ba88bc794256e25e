"""How many calls and writes a play cost, from the logs of those who saw them."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from localcluster.audit import Event
from webhook.rules.names import BATCH_GROUP, JOBSET_USER

WRITES = frozenset({"create", "update", "patch"})
ACCEPTED = range(200, 300)


def reviews(log: Path, namespace: str) -> int:
    """The reviews that our webhook answered for the namespace; none if it never ran."""
    if not log.exists():
        return 0
    with log.open() as lines:
        return sum(
            entry.get("event") == "review" and entry.get("namespace") == namespace
            for entry in map(json.loads, filter(_is_json, lines))
        )


def job_writes(events: Iterable[Event], namespace: str) -> int:
    """The writes of Jobs that the API server accepted, status writes left out."""
    return sum(1 for _ in _accepted(events, namespace))


def most_starts(events: Iterable[Event], namespace: str) -> int:
    """How often, at most, the JobSet controller wrote to one Job: each time, to start it."""
    starts = Counter(
        event.name
        for event in _accepted(events, namespace)
        if event.user == JOBSET_USER and event.verb != "create"
    )
    return max(starts.values(), default=0)


def _accepted(events: Iterable[Event], namespace: str) -> Iterator[Event]:
    return (
        event
        for event in events
        if event.namespace == namespace
        and (event.group, event.resource, event.subresource) == (BATCH_GROUP, "jobs", "")
        and event.verb in WRITES
        and event.code in ACCEPTED
    )


def _is_json(line: str) -> bool:
    return line.startswith("{")
