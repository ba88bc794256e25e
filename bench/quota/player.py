"""Submits the trace at its times, whatever the backlog: an open loop, as users are one."""

import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

from bench.quota import meter, objects, plan
from bench.quota.figures import Submitted
from bench.quota.plan import Play
from bench.quota.recorder import Recorder
from bench.quota.trace import Planned, span
from localcluster.cluster import Cluster
from localcluster.demo.client import Client
from localcluster.demo.trace import USER

LOOK_SECONDS: Final = 0.25
MOST_SECONDS: Final = 90.0
"""After the last arrival; what is not done by then is told as not done."""


def submit(cluster: Cluster, play: Play, trace: Sequence[Planned]) -> Submitted:
    """Create each TrainJob as a plain user, in its time; returns when all are created.

    Each in a thread of its own, so that a slow answer makes no later one late.
    """
    seconds = span(trace, play.load, plan.QUOTA)
    due = {item.name: item.due * seconds for item in trace}
    late = 0.0
    created: list[Future[None]] = []
    with Client(cluster.kubeconfig(USER)) as user, ThreadPoolExecutor(len(trace)) as threads:
        start = time.monotonic()
        for item in trace:
            time.sleep(max(0.0, start + due[item.name] - time.monotonic()))
            late = max(late, time.monotonic() - start - due[item.name])
            trainjob = objects.trainjob(play, item)
            created.append(threads.submit(user.create, "trainjobs", trainjob))
    for answer in created:
        answer.result()
    return Submitted(start, due, late)


def await_end(recorder: Recorder, play: Play, trace: Sequence[Planned]) -> None:
    """Return when all is done and given back, or when it is too late."""
    names = [item.name for item in trace]
    last = time.monotonic() + MOST_SECONDS
    while time.monotonic() < last and not meter.is_over(recorder.seen(play.namespace), names):
        time.sleep(LOOK_SECONDS)
