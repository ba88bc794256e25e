"""The invariants, and what is said when one of them does not hold. Pure."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Invariant(StrEnum):
    """What the product promises at every moment, whatever controllers and people do.

    ADMISSION: no Pod of a stepped Job is made before Kueue admitted its Workload, or goes on for
    more than ten seconds after the admission was taken away.
    QUOTA: the GPUs of running Pods are never more than their ClusterQueue's quota.
    START: no admitted Job, unless a person paused it, stays suspended for more than ten seconds.
    WRITES: a held Job is neither stored nor written again and again.
    """

    ADMISSION = "admission"
    QUOTA = "quota"
    START = "start"
    WRITES = "writes"


@dataclass(frozen=True, slots=True)
class Violation:
    """One invariant that did not hold: where, and a sentence with object and times."""

    invariant: Invariant
    namespaces: frozenset[str]
    sentence: str


def violation(invariant: Invariant, namespace: str, what: str) -> Violation:
    """A violation in one namespace, which the sentence begins with."""
    return Violation(invariant, frozenset({namespace}), f"{namespace}: {what}")


def clock(moment: datetime | None) -> str:
    """The time of day, to the second: API objects know no more."""
    return f"{moment:%H:%M:%S}" if moment else "an unknown time"
