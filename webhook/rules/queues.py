"""Which LocalQueue each step waits in.

First match: the parent's annotation kueue-steps.io/step-queues, the queue that the step's own
template names, the parent's queue.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from webhook.rules import names
from webhook.rules.errors import Denied
from webhook.rules.labels import (
    QUEUE_RULE,
    annotation_path,
    check_given,
    is_queue_name,
    label_path,
)
from webhook.rules.objects import Metadata, ReplicatedJob
from webhook.rules.reasons import Reason

MOST_STEPS: Final = 1000
MOST_QUEUES: Final = 30
"""Each leads to a ClusterQueue and its checks, which are looked up before the answer."""


def step_queues(parent: Metadata, steps: Sequence[ReplicatedJob] = ()) -> dict[str, str]:
    """The annotation as step name to queue name.

    Denied where it is not `step=queue,...`, or names a step that is not among those known.
    """
    known = dict.fromkeys(step.name for step in steps)
    found: dict[str, str] = {}
    for pair in _pairs(parent):
        step, equals, queue = _parts(pair)
        if not (step and equals) or step in found:
            raise _refused(parent, f"'{pair}' is not a step and its queue, once each", known)
        if known and step not in known:
            raise _refused(parent, f"there is no step '{step}'", known)
        if not is_queue_name(queue):
            raise _refused(parent, f"'{queue}' can't be a LocalQueue: it {QUEUE_RULE}", known)
        found[step] = queue
    return found


def check_number(steps: Sequence[ReplicatedJob]) -> None:
    """Denied where there are so many steps that one review would keep all others waiting."""
    if len(steps) > MOST_STEPS:
        raise Denied(
            "spec.replicatedJobs",
            len(steps),
            f"at most {MOST_STEPS} steps can be queued. Make fewer, with replicas or more JobSets",
        )


def check_own(steps: Sequence[ReplicatedJob], place: str = "spec") -> None:
    """Denied where a step's own labels have values that Kueue would not take: its Jobs would fail.

    `place` is where the steps stand, of the reviewed object or of its runtime.
    """
    for index, step in enumerate(steps):
        at = f"{place}.replicatedJobs[{index}].template."
        own = step.metadata.label(names.QUEUE)
        if own and not is_queue_name(own):
            raise Denied(at + label_path(names.QUEUE), own, QUEUE_RULE)
        check_given(step.metadata, at)


def check_queued(steps: Sequence[ReplicatedJob]) -> None:
    """Denied where a step of a stepped JobSet lost its queue: its Jobs would run without one."""
    for index, step in enumerate(steps):
        own = step.metadata.label(names.QUEUE)
        if not own or own != step.metadata.label(names.STEP_QUEUE) or not is_queue_name(own):
            raise Denied(
                f"spec.replicatedJobs[{index}].template.{label_path(names.QUEUE)}",
                own or "",
                "another webhook changed it after kueue-steps had set it and "
                f"{names.STEP_QUEUE} to the step's queue. Ask your administrator to exclude these "
                "labels from that webhook",
                code=403,
                reason=Reason.UNDONE,
            )


def queue_of(step: ReplicatedJob, chosen: Mapping[str, str], parent_queue: str) -> str:
    """The LocalQueue of one step."""
    return chosen.get(step.name) or step.metadata.label(names.QUEUE) or parent_queue


def all_queues(
    parent: Metadata, steps: Sequence[ReplicatedJob], parent_queue: str
) -> tuple[str, ...]:
    """Every LocalQueue that a step of this parent may wait in, as far as the steps are known.

    Denied where there are so many that one review would look up all there is.
    """
    pairs = [_parts(pair) for pair in _pairs(parent)]
    chosen = {step: queue for step, _, queue in pairs if is_queue_name(queue)}
    own = [queue_of(step, chosen, parent_queue) for step in steps]
    found = tuple(dict.fromkeys([parent_queue, *chosen.values(), *own]))
    if len(found) > MOST_QUEUES:
        raise Denied(
            annotation_path(names.STEP_QUEUES) if chosen else "spec.replicatedJobs",
            len(found),
            f"its steps name so many LocalQueues; at most {MOST_QUEUES} can be. "
            "Let steps share them",
        )
    return found


def _pairs(parent: Metadata) -> list[str]:
    text = parent.annotation(names.STEP_QUEUES) or ""
    return [pair.strip() for pair in text.split(",")] if text.strip() else []


def _parts(pair: str) -> tuple[str, str, str]:
    step, equals, queue = pair.partition("=")
    return step.strip(), equals, queue.strip()


def _refused(parent: Metadata, problem: str, known: Collection[str]) -> Denied:
    why = f"{problem}; the steps are {', '.join(known)}" if known else problem
    return Denied(
        annotation_path(names.STEP_QUEUES),
        parent.annotation(names.STEP_QUEUES),
        f'{why}. Write it as "dataset-initializer=cpu-queue,model-initializer=cpu-queue"',
    )
