"""What a control plane that takes no time would do with the trace: a model to measure by. Pure.

In order of arrival, and whoever fits goes ahead, as in Kueue's BestEffortFIFO. The difference to
what is measured is hand-over and tail; the difference to share/(1-share) is that a trace begins
and ends with a quota that is not full, and that eight GPUs have to be free at a time.
"""

import heapq
from collections.abc import Sequence
from typing import NamedTuple

from bench.quota.trace import Planned, Shape, span


class Asked(NamedTuple):
    """GPUs are wanted from `since` on, for so many seconds."""

    since: float
    due: float
    gpus: int
    seconds: float


def makespan(trace: Sequence[Planned], load: float, quota: int, *, stepped: bool) -> float:
    """Seconds from the first arrival to the last end."""
    seconds = span(trace, load, quota)
    coming = sorted(_asked(item, item.due * seconds, stepped=stepped) for item in trace)
    running: list[tuple[float, int]] = []
    queue: list[Asked] = []
    free, now = quota, 0.0
    while coming or running:
        now = min([one.since for one in coming[:1]] + [end for end, _ in running[:1]])
        while running and running[0][0] <= now:
            free += heapq.heappop(running)[1]
        while coming and coming[0].since <= now:
            queue.append(coming.pop(0))
        for asked in sorted(queue, key=lambda one: one.due):
            if asked.gpus <= free:
                free -= asked.gpus
                queue.remove(asked)
                heapq.heappush(running, (now + asked.seconds, asked.gpus))
    return now


def gain(trace: Sequence[Planned], load: float, quota: int) -> float:
    """By what part more is done in the same time, stepped."""
    whole, stepped = (makespan(trace, load, quota, stepped=mode) for mode in (False, True))
    return whole / stepped - 1


def _asked(item: Planned, due: float, *, stepped: bool) -> Asked:
    """Stepped, it asks when its initializers are done, whole for their time, too."""
    if stepped and item.shape is Shape.STEPS:
        return Asked(due + item.initializes, due, item.gpus, item.trains)
    return Asked(due, due, item.gpus, item.initializes + item.trains)
