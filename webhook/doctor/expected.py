"""The registrations as this version ships them: a test compares them with manifests/base."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from webhook.doctor import hooks

MUTATE: Final = "/mutate"
VALIDATE: Final = "/validate"


@dataclass(frozen=True, slots=True)
class Entry:
    """One webhook as the manifests have it; conditions by name, as fingerprints."""

    kind: tuple[str, str]
    operations: frozenset[str]
    conditions: Mapping[str, str] = field(default_factory=dict)
    reinvocation: str | None = None
    selects_steps: bool = False

    @property
    def may_be_held_in_process(self) -> bool:
        """Whether policies of the API server can take its place."""
        return self.selects_steps and self.reinvocation is not None


HELD_IN_PROCESS: Final = ("held-in-process", "false")
"""The condition with which the component in-process-hold leaves Jobs to its policies."""

_BOTH: Final = frozenset({"CREATE", "UPDATE"})
_TRAINJOBS, _JOBSETS, _JOBS = hooks.STEPPED_KINDS

MUTATING_ENTRIES: Final = {
    "trainjobs.kueue-steps.io": Entry(
        _TRAINJOBS,
        _BOTH,
        {"not-as-we-leave-it": "92582042652c", "stepped-and-changed": "4be2c5407667"},
        "IfNeeded",
    ),
    "jobsets.kueue-steps.io": Entry(
        _JOBSETS,
        _BOTH,
        {"not-as-we-leave-it": "3e16a94f6741", "stepped-and-changed": "4be2c5407667"},
        "IfNeeded",
    ),
    "created-jobs.kueue-steps.io": Entry(
        _JOBS, frozenset({"CREATE"}), {}, "Never", selects_steps=True
    ),
    "jobs.kueue-steps.io": Entry(
        _JOBS,
        frozenset({"UPDATE"}),
        {"starts-stops-or-strips": "eb06184963dd", "not-kueue-on-an-unpaused-job": "24dacdce174e"},
        "IfNeeded",
        selects_steps=True,
    ),
}
VALIDATING_ENTRIES: Final = {
    "trainjobs.kueue-steps.io": Entry(
        _TRAINJOBS, _BOTH, {"queue-came-back-or-labels-spoilt": "2a6f968c8042"}
    ),
    "jobsets.kueue-steps.io": Entry(
        _JOBSETS, _BOTH, {"labels-spoilt-or-steps-unqueued": "893fb862bbf1"}
    ),
    "jobs.kueue-steps.io": Entry(_JOBS, _BOTH, {"hold-undone": "b3fff341fce8"}, selects_steps=True),
}


def fingerprint(expression: str) -> str:
    """Twelve digits that stand for an expression."""
    return hashlib.sha256(expression.encode()).hexdigest()[:12]
