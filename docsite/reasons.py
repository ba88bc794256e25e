"""docs/reference/reasons.md: each reason of a decision and of an Event, and what it means.

What `preview` says of new parents is said here in the same words.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from docsite.tables import code, page, table
from webhook.preview.explanations import EXPLANATIONS
from webhook.rules.reasons import EventReason, Reason

INTRODUCTION: Final = """\
Two closed vocabularies, and public contract: why an object was treated as it was, and
[what Events tell](#events). A reason of the first kind is in

- the label `reason` of [`kueue_steps_admission_requests_total`](metrics.md),
- the key `reason` of the log line `review`,
- the API server's audit annotation `decision`, below the name of the webhook's entry, such as
  `jobsets.kueue-steps.io/decision`,
- what [`kueue-steps preview`](../how-to/preview.md) says of new TrainJobs and JobSets.

*New* stands for CREATE, *changed* for UPDATE. A new JobSet whose TrainJob carries our label, but
would be whole now, is refused with the reason why.
"""


@dataclass(frozen=True, slots=True)
class Use:
    """Which reviews get a reason; `meaning` is added to what `preview` says, if that knows it."""

    of: str
    meaning: str = ""


GROUPS: Final[Mapping[str, Mapping[Reason, Use]]] = {
    "Left alone: the object passes as it came": {
        Reason.OTHER_RESOURCE: Use(
            "anything else", "Not a TrainJob, JobSet or Job, or a subresource."
        ),
        Reason.OTHER_OPERATION: Use("any", "A delete, or another operation that is not ours."),
        Reason.NOT_QUEUED: Use("new TrainJobs and JobSets"),
        Reason.NOT_STEPPED: Use(
            "changed TrainJobs and JobSets; Jobs", "It was not stepped when it was created."
        ),
        Reason.OWNER_NOT_STEPPED: Use("new JobSets of a TrainJob"),
        Reason.DELETING: Use("TrainJobs and JobSets; new Jobs"),
        Reason.FINISHED: Use("changed Jobs", "The Job is complete or failed."),
        Reason.MANAGED_ELSEWHERE: Use("new TrainJobs and JobSets"),
        Reason.PREBUILT_WORKLOAD: Use("new objects"),
        Reason.OTHER_OWNER: Use(
            "new TrainJobs and JobSets; Jobs", "Of a Job: no JobSet controls it."
        ),
    },
    "Stepped: Kueue admits each step": {
        Reason.STEPPED: Use("new TrainJobs and JobSets"),
        Reason.STEPPED_ON_REQUEST: Use("new TrainJobs and JobSets"),
        Reason.STEPPED_ONLY_CHOICE: Use("new TrainJobs and JobSets"),
        Reason.STEPPED_BY_OWNER: Use("new JobSets of a TrainJob"),
    },
    "Whole: left to Kueue's own integration": {
        Reason.WHOLE_ON_REQUEST: Use("new TrainJobs and JobSets"),
        Reason.WHOLE_SINGLE_STEP: Use("new TrainJobs and JobSets"),
        Reason.WHOLE_READY_DEPENDENCY: Use("new TrainJobs and JobSets"),
        Reason.WHOLE_IN_ORDER: Use("new TrainJobs and JobSets"),
        Reason.WHOLE_SEVERAL_REPLICAS: Use("new TrainJobs and JobSets"),
        Reason.WHOLE_CONCURRENT_STEPS: Use("new TrainJobs and JobSets"),
        Reason.WHOLE_PODSET_GROUP: Use("new TrainJobs and JobSets"),
        Reason.WHOLE_RUNTIME_UNREADABLE: Use("new TrainJobs"),
        Reason.WHOLE_MULTIKUEUE: Use("new TrainJobs and JobSets"),
        Reason.WHOLE_QUEUE_UNREADABLE: Use("new TrainJobs and JobSets"),
        Reason.WHOLE_STEPPING_IMPOSSIBLE: Use(
            "new TrainJobs and JobSets; Jobs",
            "Of a Job: as `kueue.frameworks` of our own configuration says, so it is not held.",
        ),
    },
    "Updates of what is stepped": {
        Reason.UNCHANGED: Use("anything that is stepped", "It is as it should be."),
        Reason.KEPT: Use(
            "changed TrainJobs and JobSets",
            "Our label, our record, or what JobSet holds immutable was put back.",
        ),
        Reason.PAUSED: Use(
            "changed TrainJobs and JobSets; Jobs",
            "A person suspends the parent, or JobSet its Job because of that.",
        ),
        Reason.RESUMED: Use("changed TrainJobs and JobSets", "A pause ends."),
    },
    "A step's Job": {
        Reason.HELD: Use("Jobs", "JobSet would have started it, and Kueue has not admitted it."),
        Reason.HELD_FROM_USER: Use("changed Jobs", "Somebody else would have."),
        Reason.HELD_WHILE_PAUSED: Use("changed Jobs", "Kueue would have, during a pause."),
        Reason.STARTED: Use("changed Jobs", "Kueue starts it."),
        Reason.STOPPED: Use("Jobs", "Kueue, or a person, stops it or creates it suspended."),
        Reason.RESTORED: Use("changed Jobs", "Queue labels that were taken off were put back."),
    },
    "Refused": {
        Reason.INVALID_OBJECT: Use("any"),
        Reason.INVALID_VALUE: Use(
            "TrainJobs and JobSets", "The answer names the label or annotation, and what is taken."
        ),
        Reason.QUEUE_CHANGED: Use(
            "changed TrainJobs and JobSets", "Another queue: the queue is fixed at creation."
        ),
        Reason.OWNER_UNREADABLE: Use("new JobSets of a TrainJob", "Trainer tries again."),
        Reason.UNDONE: Use(
            "any",
            "Another webhook has undone what kueue-steps did; the validating webhook sees it.",
        ),
    },
}


EVENTS_INTRODUCTION: Final = """\
On the TrainJob, or on the JobSet that no TrainJob owns. [Observability](../how-to/observability.md)
has examples.
"""
EVENTS: Final[Mapping[EventReason, str]] = {
    EventReason.STEP_QUEUED: "A step waits for quota; after an eviction or a pause once more.",
    EventReason.STEP_ADMITTED: "Kueue has admitted the step; it may start.",
    EventReason.STEP_FINISHED: "The step's Job is complete.",
    EventReason.STEP_FAILED: "The step's Job has failed.",
    EventReason.STEP_EVICTED: "Kueue has taken the step's quota away. A pause is not meant.",
    EventReason.PAUSED: "The parent was suspended, and JobSet has stopped its Jobs.",
    EventReason.RESUMED: "The pause is over; what was stopped is queued again.",
}


def markdown() -> str:
    """The page."""
    head = ("reason", "reviews of", "meaning")
    sections = (
        f"## {title}\n\n{table(head, (_row(*item) for item in uses.items()))}"
        for title, uses in GROUPS.items()
    )
    return page(
        "Reasons",
        "webhook/rules/reasons.py, webhook/preview/explanations.py and docsite/reasons.py",
        INTRODUCTION,
        *sections,
        "## Events",
        EVENTS_INTRODUCTION,
        table(("reason", "type", "meaning"), (_event(*item) for item in EVENTS.items())),
    )


def meaning(reason: Reason, use: Use) -> str:
    """What a reason means: in the words of `preview`, and in our own where those are not all."""
    _, explanation = EXPLANATIONS.get(reason, (None, ""))
    return " ".join(part for part in (explanation, use.meaning) if part)


def _event(reason: EventReason, words: str) -> tuple[str, str, str]:
    return code(reason), "Warning" if reason.is_warning else "Normal", words


def _row(reason: Reason, use: Use) -> tuple[str, str, str]:
    return code(reason), use.of, meaning(reason, use)
