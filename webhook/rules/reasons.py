"""Why an object was treated as it was, and what the companion records as Events.

The words of metrics, logs, audit, Events and documentation.
"""

from enum import StrEnum


class Reason(StrEnum):
    """One word for the outcome of one review."""

    # Not ours: the object passes as it came.
    OTHER_RESOURCE = "OtherResource"
    OTHER_OPERATION = "OtherOperation"
    NOT_QUEUED = "NotQueued"
    NOT_STEPPED = "NotStepped"
    OWNER_NOT_STEPPED = "OwnerNotStepped"
    DELETING = "Deleting"
    FINISHED = "Finished"
    MANAGED_ELSEWHERE = "ManagedElsewhere"
    PREBUILT_WORKLOAD = "PrebuiltWorkload"
    OTHER_OWNER = "OtherOwner"

    # A parent is admitted step by step.
    STEPPED = "Stepped"
    STEPPED_ON_REQUEST = "SteppedOnRequest"
    STEPPED_ONLY_CHOICE = "SteppedOnlyChoice"
    STEPPED_BY_OWNER = "SteppedByOwner"

    # A parent is left to Kueue's own integration.
    WHOLE_ON_REQUEST = "WholeOnRequest"
    WHOLE_SINGLE_STEP = "WholeSingleStep"
    WHOLE_READY_DEPENDENCY = "WholeReadyDependency"
    WHOLE_IN_ORDER = "WholeInOrder"
    WHOLE_SEVERAL_REPLICAS = "WholeSeveralReplicas"
    WHOLE_CONCURRENT_STEPS = "WholeConcurrentSteps"
    WHOLE_PODSET_GROUP = "WholePodsetGroup"
    WHOLE_RUNTIME_UNREADABLE = "WholeRuntimeUnreadable"
    WHOLE_MULTIKUEUE = "WholeMultiKueue"
    WHOLE_QUEUE_UNREADABLE = "WholeQueueUnreadable"
    WHOLE_STEPPING_IMPOSSIBLE = "WholeSteppingImpossible"

    # A stepped parent is updated.
    UNCHANGED = "Unchanged"
    KEPT = "Kept"
    PAUSED = "Paused"
    RESUMED = "Resumed"

    # A step's Job.
    HELD = "Held"
    HELD_FROM_USER = "HeldFromUser"
    HELD_WHILE_PAUSED = "HeldWhilePaused"
    STARTED = "Started"
    STOPPED = "Stopped"
    RESTORED = "Restored"

    # Refused.
    INVALID_OBJECT = "InvalidObject"
    INVALID_VALUE = "InvalidValue"
    QUEUE_CHANGED = "QueueChanged"
    OWNER_UNREADABLE = "OwnerUnreadable"
    UNDONE = "Undone"


class EventReason(StrEnum):
    """What happened to a parent, in the order in which it is told of one moment."""

    PAUSED = "Paused"
    RESUMED = "Resumed"
    STEP_EVICTED = "StepEvicted"
    STEP_QUEUED = "StepQueued"
    STEP_ADMITTED = "StepAdmitted"
    STEP_FINISHED = "StepFinished"
    STEP_FAILED = "StepFailed"

    @property
    def is_warning(self) -> bool:
        """Whether the Event's type is Warning."""
        return self in {EventReason.STEP_EVICTED, EventReason.STEP_FAILED}

    @property
    def action(self) -> str:
        """What was done to the parent or its step."""
        return self.removeprefix("Step")
