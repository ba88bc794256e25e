"""Whether an object concerns us at all. "Not ours" is a verdict with a reason, never silence.

A create is judged by the new object, an update by the stored one: what somebody adds in an update
does not free an object that is ours.
"""

from msgspec import UnsetType

from webhook.rules import names
from webhook.rules.objects import Head, Metadata
from webhook.rules.reasons import Reason
from webhook.rules.review import Request


def why_create_left_alone(metadata: Metadata) -> Reason | None:
    """The reason never to touch an object that is created, None where it may be ours."""
    if metadata.deletion_timestamp:
        return Reason.DELETING
    if metadata.label(names.PREBUILT_WORKLOAD) or metadata.annotation(names.PREBUILT_WORKLOAD):
        return Reason.PREBUILT_WORKLOAD
    return None


def why_update_left_alone(request: Request) -> Reason | None:
    """The reason not to touch a parent that is updated, None where it is stepped."""
    stored = request.old(Head).metadata
    if stored.deletion_timestamp or request.new(Head).metadata.deletion_timestamp:
        return Reason.DELETING
    return None if is_stepped_parent(stored) else Reason.NOT_STEPPED


def is_queued(metadata: Metadata) -> bool:
    """Whether an object asks for a queue, in Kueue's words or in ours."""
    return metadata.label(names.QUEUE) is not None or is_stepped(metadata)


def is_stepped(metadata: Metadata) -> bool:
    """Whether an object carries our label. Of two objects, ask this of the stored one."""
    return bool(metadata.label(names.STEP_QUEUE))


def is_stepped_parent(metadata: Metadata) -> bool:
    """Whether a stored parent is stepped: our label stands in place of Kueue's, not beside it.

    Beside it, somebody has written it by hand on what Kueue admits as a whole.
    """
    return is_stepped(metadata) and metadata.label(names.QUEUE) is None


def is_managed_elsewhere(managed_by: str | UnsetType | None, controller: str) -> bool:
    """Whether spec.managedBy hands the object to a controller other than its own kind's."""
    return bool(managed_by) and managed_by != controller
