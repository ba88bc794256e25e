"""Which LocalQueue each step waits in.

First match: the parent's annotation kueue-steps.io/step-queues, the queue that the step's own
template names, the parent's queue.
"""

from collections.abc import Collection, Mapping

from webhook.rules import names
from webhook.rules.errors import Denied
from webhook.rules.labels import annotation_path, is_queue_name
from webhook.rules.objects import Metadata, ReplicatedJob


def step_queues(parent: Metadata) -> dict[str, str]:
    """The annotation as step name to queue name; Denied where it is not `step=queue,...`."""
    text = parent.annotation(names.STEP_QUEUES)
    pairs = [pair.strip() for pair in text.split(",")] if text and text.strip() else []
    found: dict[str, str] = {}
    for pair in pairs:
        step, equals, queue = (part.strip() for part in pair.partition("="))
        if not (step and equals and is_queue_name(queue)) or step in found:
            raise _refused(parent, f"'{pair}' is not a step and its queue, once each")
        found[step] = queue
    return found


def check_steps_exist(parent: Metadata, steps: Collection[str]) -> None:
    """Denied where the annotation names a step that there is not."""
    for step in step_queues(parent):
        if step not in steps:
            raise _refused(parent, f"there is no step '{step}'; the steps are {', '.join(steps)}")


def queue_of(step: ReplicatedJob, chosen: Mapping[str, str], parent_queue: str) -> str:
    """The LocalQueue of one step."""
    own = step.template.metadata.label(names.QUEUE) if step.template.metadata else None
    return chosen.get(step.name) or own or parent_queue


def _refused(parent: Metadata, why: str) -> Denied:
    return Denied(
        annotation_path(names.STEP_QUEUES),
        parent.annotation(names.STEP_QUEUES),
        f'{why}. Write it as "dataset-initializer=cpu-queue,model-initializer=cpu-queue"',
    )
