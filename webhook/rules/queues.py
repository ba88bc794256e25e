"""Which LocalQueue each step waits in.

First match: the parent's annotation kueue-steps.io/step-queues, the queue that the step's own
template names, the parent's queue.
"""

from collections.abc import Mapping, Sequence

from webhook.rules import names
from webhook.rules.errors import Denied
from webhook.rules.labels import QUEUE_RULE, annotation_path, is_queue_name, label_path
from webhook.rules.objects import Metadata, ReplicatedJob


def step_queues(parent: Metadata) -> dict[str, str]:
    """The annotation as step name to queue name; Denied where it is not `step=queue,...`."""
    text = parent.annotation(names.STEP_QUEUES)
    pairs = [pair.strip() for pair in text.split(",")] if text and text.strip() else []
    found: dict[str, str] = {}
    for pair in pairs:
        step, equals, queue = (part.strip() for part in pair.partition("="))
        if not (step and equals) or step in found:
            raise _refused(parent, f"'{pair}' is not a step and its queue, once each")
        if not is_queue_name(queue):
            raise _refused(parent, f"'{queue}' can't be a LocalQueue: it {QUEUE_RULE}")
        found[step] = queue
    return found


def check_chosen(parent: Metadata, steps: Sequence[ReplicatedJob]) -> None:
    """Denied where the annotation is malformed, or names a step that is not among those known."""
    known = [step.name for step in steps]
    for step in step_queues(parent):
        if known and step not in known:
            raise _refused(parent, f"there is no step '{step}'; the steps are {', '.join(known)}")


def check_own(steps: Sequence[ReplicatedJob]) -> None:
    """Denied where a step's own template names what can't be a queue: its Jobs would fail."""
    for index, step in enumerate(steps):
        own = step.metadata.label(names.QUEUE)
        if own and not is_queue_name(own):
            place = f"spec.replicatedJobs[{index}].template.{label_path(names.QUEUE)}"
            raise Denied(place, own, QUEUE_RULE)


def queue_of(step: ReplicatedJob, chosen: Mapping[str, str], parent_queue: str) -> str:
    """The LocalQueue of one step."""
    return chosen.get(step.name) or step.metadata.label(names.QUEUE) or parent_queue


def all_queues(
    parent: Metadata, steps: Sequence[ReplicatedJob], parent_queue: str
) -> tuple[str, ...]:
    """Every LocalQueue that a step of this parent may wait in, as far as the steps are known."""
    own = [queue for step in steps if (queue := step.metadata.label(names.QUEUE))]
    return tuple(dict.fromkeys([parent_queue, *step_queues(parent).values(), *own]))


def _refused(parent: Metadata, why: str) -> Denied:
    return Denied(
        annotation_path(names.STEP_QUEUES),
        parent.annotation(names.STEP_QUEUES),
        f'{why}. Write it as "dataset-initializer=cpu-queue,model-initializer=cpu-queue"',
    )
