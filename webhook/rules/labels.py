"""Kueue's rules for the labels that we carry from a parent to its steps.

They are checked here because moving a label hides it: template labels are plain strings for the API
server, and Kueue's validators see only what is left on the parent.
"""

import re
from typing import Final

from webhook.rules import names
from webhook.rules.errors import Denied
from webhook.rules.objects import Metadata
from webhook.rules.policy import Mode

INHERITED: Final = (names.PRIORITY_CLASS, names.MAX_EXEC_TIME)
"""What steps get of their parent beside its queue."""

LABELS: Final = frozenset({names.STEP_QUEUE})
RECORDS: Final = frozenset({names.MODE, names.STEP_QUEUES, names.SUBMITTED_SUSPENDED, names.PAUSED})
"""What is ours among a parent's labels and annotations."""

LABEL_LENGTH: Final = 63
NAME_LENGTH: Final = 253
MAX_SECONDS: Final = 2**31 - 1

_SUBDOMAIN: Final = re.compile(
    r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*", re.ASCII
)
_SUBDOMAIN_RULE: Final = (
    "must be the name of an object: lower case letters, digits, '-' and '.', "
    f"beginning and ending with a letter or digit, at most {LABEL_LENGTH} characters"
)
QUEUE_RULE: Final = (
    f"{_SUBDOMAIN_RULE}. Name a LocalQueue of this namespace, or leave the label out"
)


def label_path(key: str) -> str:
    """Field path of a label of the reviewed object."""
    return f"metadata.labels[{key}]"


def annotation_path(key: str) -> str:
    """Field path of an annotation of the reviewed object."""
    return f"metadata.annotations[{key}]"


def is_object_name(value: str) -> bool:
    """Whether an object can have this name, and a path of the API server this segment."""
    return len(value) <= NAME_LENGTH and _SUBDOMAIN.fullmatch(value) is not None


def is_queue_name(value: str) -> bool:
    """Whether this can be a LocalQueue's name and a label's value."""
    return len(value) <= LABEL_LENGTH and _SUBDOMAIN.fullmatch(value) is not None


def check_changed(new: Metadata, old: Metadata) -> None:
    """Denied where an update brings in a value that Kueue would not take."""
    changed = {key: new.label(key) for key in INHERITED if new.label(key) != old.label(key)}
    check_carried(Metadata().labelled(changed))


def unknown_warnings(metadata: Metadata) -> tuple[str, ...]:
    """Names the first key of ours that nobody reads there: misspelt, or no label but annotation."""
    unknown = [
        *(f"label {key}" for key in metadata.labels or () if _is_unknown(key, LABELS)),
        *(f"annotation {key}" for key in metadata.annotations or () if _is_unknown(key, RECORDS)),
    ]
    read = f"annotations {names.MODE} and {names.STEP_QUEUES} are"
    return tuple(f"{place} is not read; {read}" for place in unknown[:1])


def _is_unknown(key: str, known: frozenset[str]) -> bool:
    return key.startswith(names.OURS) and key not in known


def mode_of(metadata: Metadata) -> Mode | None:
    """The mode that a parent asks for, None where it leaves it open; Denied where there is none."""
    text = metadata.annotation(names.MODE)
    if text is None:
        return None
    if text not in set(Mode):
        known = ", ".join(Mode)
        why = f"must be one of {known}; or leave the annotation out"
        raise Denied(annotation_path(names.MODE), text, why)
    return Mode(text)


def check_carried(metadata: Metadata) -> None:
    """Denied where a label that goes to the steps has a value that Kueue would not take."""
    for key in (names.QUEUE, names.STEP_QUEUE):
        queue = metadata.label(key)
        if queue is not None and not is_queue_name(queue):
            raise Denied(label_path(key), queue, QUEUE_RULE)
    check_given(metadata)


def check_given(metadata: Metadata, place: str = "") -> None:
    """Denied where a priority class or time limit has a value that Kueue would not take.

    `place` stands before the path of the label.
    """
    priority = metadata.label(names.PRIORITY_CLASS)
    if priority and not is_queue_name(priority):
        raise Denied(
            place + label_path(names.PRIORITY_CLASS),
            priority,
            f"{_SUBDOMAIN_RULE}. Name a WorkloadPriorityClass, or leave the label out",
        )
    seconds = metadata.label(names.MAX_EXEC_TIME)
    if seconds is not None and not _is_positive(seconds):
        raise Denied(
            place + label_path(names.MAX_EXEC_TIME),
            seconds,
            f'must be a whole number of seconds from 1 to {MAX_SECONDS}, such as "7200"; '
            "or leave the label out",
        )


def _is_positive(text: str) -> bool:
    return re.fullmatch(r"[0-9]{1,19}", text, re.ASCII) is not None and 0 < int(text) <= MAX_SECONDS


def carried(metadata: Metadata) -> dict[str, str]:
    """The labels beside the queue that a parent gives to each step that has none of its own."""
    return {key: value for key in INHERITED if (value := metadata.label(key))}
