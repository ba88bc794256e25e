"""Read the API server's audit log: who wrote what, when, and how admission marked it."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Event:
    """One write, as the API server answered it.

    `code` is the HTTP status; `end` is the offset behind this entry, in bytes: give it to `events`
    to go on from here.
    """

    verb: str
    group: str
    resource: str
    subresource: str
    namespace: str
    name: str
    user: str
    code: int
    received: datetime
    answered: datetime
    annotations: Mapping[str, str]
    end: int


def events(path: Path, since: int = 0) -> Iterator[Event]:
    """The complete entries from this offset on; none if there is no log yet."""
    if not path.exists():
        return
    with path.open("rb") as log:
        log.seek(since)
        while (line := log.readline()).endswith(b"\n"):
            yield _event(json.loads(line), log.tell())


def end(path: Path) -> int:
    """The offset behind the last entry: what is written later is found from here on."""
    return path.stat().st_size if path.exists() else 0


def _event(entry: Mapping[str, Any], offset: int) -> Event:
    target = entry["objectRef"]
    return Event(
        verb=entry["verb"],
        group=target.get("apiGroup", ""),
        resource=target["resource"],
        subresource=target.get("subresource", ""),
        namespace=target.get("namespace", ""),
        # A create's name is in the URL only where the client put it there.
        name=target.get("name", ""),
        user=entry["user"]["username"],
        code=entry.get("responseStatus", {}).get("code", 0),
        received=datetime.fromisoformat(entry["requestReceivedTimestamp"]),
        answered=datetime.fromisoformat(entry["stageTimestamp"]),
        annotations=entry.get("annotations", {}),
        end=offset,
    )
