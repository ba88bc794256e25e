"""The sentences of Events, for whoever submitted a TrainJob and looks why it does not run.

Pure. The API server takes 1024 bytes; what controllers say may be longer, and of several lines.
"""

from datetime import timedelta
from typing import Final

from webhook.cluster.views import Grant, Job, Parent, Turn
from webhook.rules.words import printable

LONGEST_NOTE: Final = 1024
"""Bytes (pkg/apis/core/validation/events.go in Kubernetes v1.36.3)."""


def step(job: Job, replicas: int) -> str:
    """What a step is called; of several Jobs, which."""
    return f"Step {job.step}" if replicas == 1 else f"Step {job.step} (Job {job.name})"


def queued(step: str, queue: str, why: Turn | None) -> str:
    """It waits for quota; `why` is what Kueue says of that, if it says anything."""
    return _note(f"{step} is queued in LocalQueue {queue}.", *_words("Kueue", why))


def admitted(step: str, grant: Grant | None, waited: timedelta | None) -> str:
    """It has quota: whose, what, and after how long."""
    by = f" by ClusterQueue {grant.cluster_queue}" if grant else ""
    given = ", ".join(_quantity(*one) for one in grant.resources) if grant else ""
    return _note(f"{step} was admitted{by}{_wait(waited)}{': ' if given else ''}{given}.")


def evicted(step: str, turn: Turn) -> str:
    """Its quota was taken away."""
    return _note(f"{step} stops: Kueue has taken its quota away.", *_words("Kueue", turn))


def finished(step: str, ran: timedelta | None) -> str:
    """It is complete."""
    after = f" after it ran for {words(ran)}" if ran is not None else ""
    return _note(f"{step} finished{after}.")


def failed(step: str, turn: Turn) -> str:
    """Its Job has failed."""
    return _note(f"{step} failed.", *_words("Its Job", turn))


def paused(parent: Parent) -> str:
    """The parent was suspended by somebody."""
    return f"The {parent.kind} is paused: its steps stop, and their quota is given back."


def resumed(parent: Parent) -> str:
    """The parent goes on."""
    return f"The {parent.kind} is resumed: the steps that were stopped are queued again."


def words(time: timedelta) -> str:
    """A length of time in its two largest units."""
    seconds = max(0, round(time.total_seconds()))
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    parts = ((days, "d"), (hours, "h"), (minutes, "min"), (seconds, "s"))
    first = next((index for index, (count, _) in enumerate(parts) if count), len(parts) - 1)
    return " ".join(f"{count} {unit}" for count, unit in parts[first : first + 2])


def _wait(waited: timedelta | None) -> str:
    if waited is None:
        return ""
    is_wait = waited >= timedelta(seconds=1)
    return f" after waiting for {words(waited)}" if is_wait else " without waiting"


def _quantity(quantity: str, resource: str, flavor: str) -> str:
    return f"{quantity} {resource}" + (f" (flavor {flavor})" if flavor else "")


def _words(who: str, turn: Turn | None) -> tuple[str, ...]:
    """What a controller says, with the reason as it spells it."""
    if turn is None:
        return ()
    said = ": ".join(part for part in (turn.reason, turn.message.strip().rstrip(".")) if part)
    return (f"{who} says: {said}.",) if said else ()


def _note(*sentences: str) -> str:
    text = printable(" ".join(sentences))
    content = text.encode()
    if len(content) <= LONGEST_NOTE:
        return text
    return content[: LONGEST_NOTE - len("…".encode())].decode(errors="ignore") + "…"
