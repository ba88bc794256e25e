"""What TrainJobs and JobSets have in common once they are stepped.

A stepped parent carries its queue in kueue-steps.io/queue-name and never in Kueue's own label:
with that one Kueue would take it for the manager of its Jobs and admit it whole.
"""

from collections.abc import Sequence
from typing import Final

from webhook.rules import labels, names, queues, scope
from webhook.rules.errors import Denied
from webhook.rules.labels import label_path
from webhook.rules.objects import Flag, Head, Metadata, ReplicatedJob
from webhook.rules.reasons import Reason
from webhook.rules.review import Operation, Request
from webhook.rules.verdict import Verdict

TRUE: Final = "true"


def queue_of(metadata: Metadata) -> str | None:
    """The queue that a parent asks for at CREATE, or None where it asks for none.

    Both labels are there when Kueue's LocalQueue defaulting came after us, when a manifest is
    applied again or when a backup is restored: a queue that somebody chose wins over `default`.
    """
    ours, kueues = metadata.label(names.STEP_QUEUE), metadata.label(names.QUEUE)
    if ours and kueues in {None, "", names.DEFAULT_QUEUE}:
        return ours
    return kueues if kueues is not None else ours


def is_defaulted(metadata: Metadata) -> bool:
    """Whether Kueue's queue label was put there by Kueue, after our first call."""
    return bool(metadata.label(names.STEP_QUEUE)) and (
        metadata.label(names.QUEUE) == names.DEFAULT_QUEUE
    )


def moved(metadata: Metadata, queue: str) -> Metadata:
    """The metadata of a stepped parent: the queue under our label, off Kueue's."""
    return metadata.labelled({names.STEP_QUEUE: queue, names.QUEUE: None})


def left_whole(metadata: Metadata, queue: str) -> Metadata:
    """The metadata of a parent for Kueue's own integration: only Kueue's label, as submitted."""
    if not metadata.label(names.STEP_QUEUE):
        return metadata
    return metadata.labelled({names.QUEUE: queue, names.STEP_QUEUE: None})


def remembered(metadata: Metadata, suspended: Flag) -> Metadata:
    """Notes that the manifest itself said suspend, so that the same manifest is known again."""
    if not suspended or is_defaulted(metadata):
        return metadata
    return metadata.annotated({names.SUBMITTED_SUSPENDED: TRUE})


def kept(new: Metadata, old: Metadata) -> Metadata:
    """The metadata of an update of a stepped parent: our label and record stand as they were.

    Denied where the update sets another queue, or a value that Kueue would not take. On a JobSet of
    Trainer's the label comes from its runtime at each apply and is only taken off.
    """
    labels.check_changed(new, old)
    queue, asked = old.label(names.STEP_QUEUE) or "", new.label(names.QUEUE)
    if asked is not None and asked != queue and new.controller is None:
        raise _queue_changed(queue, asked)
    record = old.annotation(names.SUBMITTED_SUSPENDED)
    kept_labels = moved(new, queue)
    return kept_labels.annotated({names.SUBMITTED_SUSPENDED: record}) if record else kept_labels


def is_replay(new: Metadata, old: Metadata) -> bool:
    """Whether an update that suspends is the manifest of the create coming back, and not a pause.

    A pause leaves the object without Kueue's queue label; a manifest brings it along.
    """
    return new.label(names.QUEUE) is not None and old.annotation(names.SUBMITTED_SUSPENDED) == TRUE


def suspend_after(new: Flag, old: Flag, *, replay: bool) -> Flag:
    """What spec.suspend of a stepped parent is to be after an update."""
    return False if replay and new and not old else new


def update_reason(suspend: Flag, stored: Flag, *, edited: bool) -> Reason:
    """The reason of an update of a stepped parent whose suspend goes from `stored` to `suspend`."""
    if bool(suspend) != bool(stored):
        return Reason.PAUSED if suspend else Reason.RESUMED
    return Reason.KEPT if edited else Reason.UNCHANGED


def left_alone(request: Request, reason: Reason) -> Verdict:
    """The verdict on a parent that is not ours, with what its user should know."""
    if reason is Reason.NOT_QUEUED and request.new(Head).metadata.annotation(names.QUEUE):
        return Verdict(
            reason, warnings=(f"annotation {names.QUEUE} is not a queue: set it as a label",)
        )
    return Verdict(reason)


def fixed_warnings(new: Metadata, old: Metadata, steps: Sequence[ReplicatedJob]) -> tuple[str, ...]:
    """Says of each annotation of ours that an update changes that it counts at creation only.

    Denied where its new value would not have been taken at creation either.
    """
    changed = changed_annotations(new, old)
    if names.MODE in changed:
        labels.mode_of(new)
    if names.STEP_QUEUES in changed:
        queues.step_queues(new, steps)
    return (
        *(
            f"{key} counts at creation only: to change it, delete the object and create it again"
            for key in changed
        ),
        *(
            f"{key} counts at creation only: to change it for a step that waits, label its Job"
            for key in labels.INHERITED
            if new.label(key) != old.label(key)
        ),
    )


def changed_annotations(new: Metadata, old: Metadata) -> tuple[str, ...]:
    """The annotations that users set and an update changes."""
    return tuple(
        key for key in (names.MODE, names.STEP_QUEUES) if new.annotation(key) != old.annotation(key)
    )


def validated(request: Request, why_not_ours: Reason | None) -> Verdict:
    """Denied where a stepped parent would be stored with Kueue's queue label after all."""
    metadata = request.new(Head).metadata
    if why_not_ours is Reason.NOT_STEPPED and metadata.controller is None:
        _check_unmarked(metadata)
    if why_not_ours:
        return Verdict(why_not_ours)
    if request.operation is Operation.UPDATE:
        _check_unqueued(metadata)
        labels.check_changed(metadata, request.old(Head).metadata)
    elif scope.is_stepped(metadata):
        _check_unqueued(metadata)
        labels.check_carried(metadata)
    return Verdict(Reason.UNCHANGED)


def _check_unqueued(metadata: Metadata) -> None:
    if metadata.label(names.QUEUE) is not None:
        raise Denied(
            label_path(names.QUEUE),
            metadata.label(names.QUEUE),
            "another webhook put it back after kueue-steps had moved it to "
            f"{names.STEP_QUEUE}: with both, Kueue would admit the whole and each step. "
            "Ask your administrator to exclude this label from that webhook",
            code=403,
            reason=Reason.UNDONE,
        )


def _check_unmarked(metadata: Metadata) -> None:
    """What was not stepped at its creation never is: it would only look as if it were queued."""
    if scope.is_stepped_parent(metadata):
        raise Denied(
            label_path(names.STEP_QUEUE),
            metadata.label(names.STEP_QUEUE),
            "steps are admitted one by one from the creation on, and this object was created "
            "otherwise. Leave the label out, or delete the object and create it with "
            f"{names.QUEUE} in its place",
            code=403,
            reason=Reason.NOT_STEPPED,
        )


def _queue_changed(queue: str, asked: str) -> Denied:
    return Denied(
        label_path(names.QUEUE),
        asked,
        f'its steps are admitted one by one in LocalQueue "{queue}", which is fixed at creation. '
        f'Set "{queue}" or leave the label out; to change the queue, delete the object and '
        "create it again",
        reason=Reason.QUEUE_CHANGED,
    )
