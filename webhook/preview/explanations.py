"""What each reason for the treatment of a new parent means, in a plain sentence."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from webhook.rules.reasons import Reason


class Outcome(StrEnum):
    """What becomes of a parent."""

    STEP = "step"
    WHOLE = "whole"
    UNTOUCHED = "untouched"
    REFUSED = "refused"


EXPLANATIONS: Final[Mapping[Reason, tuple[Outcome, str]]] = {
    Reason.NOT_QUEUED: (Outcome.UNTOUCHED, "It names no queue."),
    Reason.DELETING: (Outcome.UNTOUCHED, "It is being deleted."),
    Reason.MANAGED_ELSEWHERE: (
        Outcome.UNTOUCHED,
        "spec.managedBy hands it to a controller other than its own kind's.",
    ),
    Reason.PREBUILT_WORKLOAD: (
        Outcome.UNTOUCHED,
        "It names a prebuilt Workload, which stands for all of it.",
    ),
    Reason.OTHER_OWNER: (
        Outcome.UNTOUCHED,
        "Another object controls it, and is what Kueue has to admit.",
    ),
    Reason.OWNER_NOT_STEPPED: (Outcome.UNTOUCHED, "Its TrainJob is not stepped."),
    Reason.STEPPED: (
        Outcome.STEP,
        "No two of its steps need quota at the same time, initializers excepted.",
    ),
    Reason.STEPPED_ON_REQUEST: (
        Outcome.STEP,
        "Its annotation, or the configuration, asks for steps.",
    ),
    Reason.STEPPED_ONLY_CHOICE: (
        Outcome.STEP,
        "Kueue's integration for its kind is off: whole, it would not be queued at all.",
    ),
    Reason.STEPPED_BY_OWNER: (Outcome.STEP, "Its TrainJob is stepped."),
    Reason.WHOLE_ON_REQUEST: (
        Outcome.WHOLE,
        "Its annotation, or the configuration, asks for one admission of the whole.",
    ),
    Reason.WHOLE_SINGLE_STEP: (
        Outcome.WHOLE,
        "It has a single step, so there is nothing to gain.",
    ),
    Reason.WHOLE_READY_DEPENDENCY: (
        Outcome.WHOLE,
        "A step waits until another is ready, so both need their quota at the same time.",
    ),
    Reason.WHOLE_IN_ORDER: (
        Outcome.WHOLE,
        "startupPolicy InOrder starts steps one after another and keeps all of them running.",
    ),
    Reason.WHOLE_SEVERAL_REPLICAS: (
        Outcome.WHOLE,
        "A step has several replicas, which need their quota at the same time.",
    ),
    Reason.WHOLE_CONCURRENT_STEPS: (
        Outcome.WHOLE,
        "Some of its steps run side by side and need their quota at the same time.",
    ),
    Reason.WHOLE_PODSET_GROUP: (
        Outcome.WHOLE,
        "Its steps are placed together as a podset group, which takes one Workload.",
    ),
    Reason.WHOLE_RUNTIME_UNREADABLE: (
        Outcome.WHOLE,
        "Its runtime can't be read, so its steps are not known.",
    ),
    Reason.WHOLE_MULTIKUEUE: (
        Outcome.WHOLE,
        "One of its queues leads to MultiKueue, which moves whole parents to other clusters.",
    ),
    Reason.WHOLE_QUEUE_UNREADABLE: (
        Outcome.WHOLE,
        "One of its queues can't be read, so where it leads is not known.",
    ),
    Reason.WHOLE_STEPPING_IMPOSSIBLE: (
        Outcome.WHOLE,
        "Kueue's configuration leaves no way to admit steps in this namespace.",
    ),
    Reason.INVALID_OBJECT: (Outcome.REFUSED, "It is not of its kind's shape."),
    Reason.INVALID_VALUE: (Outcome.REFUSED, "A value in it would not be taken."),
    Reason.OWNER_UNREADABLE: (
        Outcome.REFUSED,
        "The TrainJob that controls it can't be read, so its queue is not known.",
    ),
}
"""Every reason that a TrainJob or JobSet can get when it is created."""
