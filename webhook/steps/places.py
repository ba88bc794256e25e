"""Places in the queues, as far as Kueue tells them, and why there are none where it doesn't."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

import msgspec

from webhook.cluster.listing import NoQueue, Unread
from webhook.steps.decoding import decoded
from webhook.steps.objects import PendingWorkload, Workload
from webhook.steps.workloads import waits_in_queue

RIGHTS: Final = "docs/how-to/steps.md"
NOT_SERVED: Final = "Kueue's visibility API is not served"
NO_RIGHT: Final = (
    "you may not get localqueues/pendingworkloads.visibility.kueue.x-k8s.io "
    f"(the ClusterRole in {RIGHTS} lets you)"
)
EVERYWHERE: Final = "the queues"
AT_ONCE: Final = 8
NAMED_AT_MOST: Final = 3

Queue: TypeAlias = tuple[str, str]
"""Namespace and name of a LocalQueue."""

Pending: TypeAlias = Callable[[str, str], Awaitable[list[msgspec.Raw] | None]]
Answer: TypeAlias = list[PendingWorkload] | NoQueue | Unread | None


def queues_of(workloads: Iterable[Workload]) -> list[Queue]:
    """The LocalQueues in which some of these wait."""
    waiting = (one for one in workloads if waits_in_queue(one) and one.spec.queue_name)
    return sorted({(one.metadata.namespace, one.spec.queue_name) for one in waiting})


async def places(
    pending: Pending, queues: Iterable[Queue]
) -> tuple[list[PendingWorkload], tuple[str, ...]]:
    """What waits in these queues, and notes on those of which nothing is told."""
    turns = asyncio.Semaphore(AT_ONCE)

    async def ask(queue: Queue) -> tuple[Queue, Answer]:
        async with turns:
            return queue, await _answer(pending, queue)

    answers = dict(await asyncio.gather(*map(ask, queues)))
    found = [one for answer in answers.values() if isinstance(answer, list) for one in answer]
    return found, tuple(_notes(answers))


async def _answer(pending: Pending, queue: Queue) -> Answer:
    try:
        items = await pending(*queue)
        return None if items is None else decoded(items, PendingWorkload)
    except (NoQueue, Unread) as error:
        return error


def _notes(answers: Mapping[Queue, Answer]) -> Iterator[str]:
    missing, untold = list[str](), defaultdict[str, list[str]](list)
    for queue, answer in answers.items():
        if isinstance(answer, NoQueue):
            missing.append("/".join(queue))
        elif not isinstance(answer, list):
            untold[_why(answer)].append("/".join(queue))
    for why, queues in untold.items():
        is_all = len(queues) + len(missing) == len(answers)
        yield no_positions(why, EVERYWHERE if is_all else _named(queues))
    if len(missing) == 1:
        yield f"LocalQueue {missing[0]} does not exist"
    elif missing:
        yield f"LocalQueues {_named(missing)} do not exist"


def no_positions(why: str, where: str = EVERYWHERE) -> str:
    """The note that there are none."""
    return f"no positions in {where} are told: {why}"


def _why(answer: Unread | None) -> str:
    if answer is None:
        return NOT_SERVED
    return NO_RIGHT if answer.is_refused else str(answer)


def _named(queues: Sequence[str]) -> str:
    more = f" and {len(queues) - NAMED_AT_MOST} more" if len(queues) > NAMED_AT_MOST else ""
    return ", ".join(queues[:NAMED_AT_MOST]) + more
