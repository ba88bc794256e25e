"""What a play cost, from what the API server, Kueue and our server wrote down."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from statistics import median
from typing import Any, Final

from bench.growth.record import Admissions
from bench.spread import percentile
from localcluster.audit import Event
from localcluster.demo.counts import ACCEPTED, WRITES

ADMITTED: Final = "Admitted"


def writes(events: Iterable[Event], namespace: str) -> dict[str, int]:
    """Accepted writes in the namespace, by resource, those of a status apart."""
    found = Counter(
        "/".join(filter(None, (event.resource, event.subresource)))
        for event in events
        if event.namespace == namespace and event.verb in WRITES and event.code in ACCEPTED
    )
    return dict(sorted(found.items()))


def admissions(workloads: Iterable[Mapping[str, Any]], begun: datetime) -> Admissions:
    """Those that are or were admitted, of plays that began then."""
    waits: list[float] = []
    last = begun
    for item in workloads:
        for condition in item.get("status", {}).get("conditions") or []:
            if condition["type"] == ADMITTED:
                moment = datetime.fromisoformat(condition["lastTransitionTime"])
                made = datetime.fromisoformat(item["metadata"]["creationTimestamp"])
                waits.append((moment - made).total_seconds())
                last = max(last, moment)
    seconds = (last - begun).total_seconds()
    return Admissions(len(waits), round(seconds, 1), median(waits) if waits else 0.0)


def own_p99(log: Path, since: int) -> float:
    """Milliseconds that our server took for a review, from its log from this offset on."""
    with log.open("rb") as file:
        file.seek(since)
        entries = (json.loads(line) for line in file if line.startswith(b"{"))
        taken = sorted(
            round(entry["seconds"] * 1e6) for entry in entries if entry.get("event") == "review"
        )
    return percentile(taken, 0.99) / 1000 if taken else 0.0
