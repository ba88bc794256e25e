"""A run: limits raised, nodes added, and one crowd of TrainJobs after another."""

import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Final, NamedTuple, Self

import httpx

from bench import meter, webhooks
from bench.environment import Observed
from bench.growth import counts, limits, objects
from bench.growth.crowd import Eye, submit
from bench.growth.objects import Mode
from bench.growth.plan import Play, fitting
from bench.growth.record import Conditions, Record, Reviews, Run
from bench.patience import await_true
from bench.webhooks import OURS, Seen, since
from localcluster import audit, webhook
from localcluster.cluster import Cluster
from localcluster.connection import arguments
from localcluster.demo.trace import USER
from localcluster.errors import KubectlError

Say = Callable[[str], None]

WARM_UP: Final = Play(2, Mode.STEPPED, 0)
SETTLE_SECONDS: Final = 3.0
"""After the last TrainJob is complete, Kueue and JobSet still write that their objects are."""


def run(cluster: Cluster, plays: Sequence[Play], seconds: float, say: Say) -> Record:
    """Play on a control plane that nobody else uses, with our server yet to be installed.

    What would take longer than these seconds is cut.
    """
    observed, until = Observed(), time.monotonic() + seconds
    prepare(cluster)
    say("the limits are raised")
    play(cluster, WARM_UP, "warm-up", say)
    runs = list(_played(cluster, plays, until, say))
    wanted = sorted({item.size for item in plays})
    return Record(Conditions(observed.until_now(), limits.SAID, limits.NODES, wanted), runs)


def prepare(cluster: Cluster) -> None:
    """Everything that has to be there before the first TrainJob."""
    limits.raise_limits(cluster)
    limits.add_nodes(cluster)
    webhook.install(cluster)


class Cpus(NamedTuple):
    """What all CPUs together have done since the start of the machine, in clock ticks."""

    everything: int
    idle: int

    @classmethod
    def now(cls) -> Self:
        """From proc(5)."""
        ticks = [int(item) for item in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]]
        # Idle, and waiting for a disk; the last two are part of the first two.
        return cls(sum(ticks[:8]), ticks[3] + ticks[4])

    def busy_until(self, later: Self) -> float:
        """The share of the time between."""
        return 1 - (later.idle - self.idle) / max(later.everything - self.everything, 1)


@dataclass(frozen=True)
class Reading:
    """What had been counted at a moment."""

    moment: datetime
    clock: float
    cpu: dict[str, float]
    seen: Seen
    audit_end: int
    log_end: int
    load: float
    cpus: Cpus

    @classmethod
    def take(cls, cluster: Cluster) -> Self:
        """Of everything, now."""
        return cls(
            # As Kueue's times are: to the second.
            moment=datetime.now(UTC).replace(microsecond=0),
            cpu={item.name: meter.cpu_seconds(item.pid) for item in cluster.status()},
            seen=_seen(cluster.kubeconfig()),
            audit_end=audit.end(cluster.audit_log),
            log_end=_log(cluster).stat().st_size,
            load=round(os.getloadavg()[0], 2),
            cpus=Cpus.now(),
            clock=time.monotonic(),
        )


def play(cluster: Cluster, wanted: Play, namespace: str, say: Say) -> Run:
    """Submit, wait, and count."""
    cluster.apply(objects.place(namespace, wanted.size))
    await_true(lambda: _is_welcome(cluster, namespace, wanted.mode), "a TrainJob is accepted")
    pid = next(item.pid for item in cluster.status() if item.name == webhook.NAME)
    eye = Eye(cluster.kubeconfig(), namespace)
    meter.forget_peak(pid)
    before = Reading.take(cluster)
    creating = submit(cluster.kubeconfig(USER), namespace, wanted.mode, wanted.size)
    finished = eye.await_finished(wanted.size, say)
    seconds = time.monotonic() - before.clock
    after = Reading.take(cluster)
    time.sleep(SETTLE_SECONDS)
    calls = since(before.seen, Reading.take(cluster).seen, OURS)
    memory = meter.memory(pid)
    return Run(
        mode=wanted.mode,
        size=wanted.size,
        repeat=wanted.repeat,
        finished=finished,
        creating=round(creating, 2),
        seconds=round(seconds, 2),
        admissions=counts.admissions(eye.workloads(), before.moment),
        reviews=Reviews(
            round(calls.count),
            round(calls.mean_milliseconds, 2),
            round(calls.milliseconds(0.99), 2),
            counts.own_p99(_log(cluster), before.log_end),
        ),
        writes=counts.writes(audit.events(cluster.audit_log, before.audit_end), namespace),
        cpu={name: round(after.cpu[name] - taken, 2) for name, taken in before.cpu.items()},
        memory=memory.now,
        memory_peak=memory.peak,
        busy=round(before.cpus.busy_until(after.cpus), 2),
        load=before.load,
    )


def sentence(item: Run) -> str:
    """What is said of a play when it is over."""
    return (
        f"{item.size:,} {item.mode}: all done after {item.seconds:.1f} s, "
        f"{item.admissions.per_second:.1f} admissions/s, "
        f"{item.reviews.calls / item.size:.2f} reviews and {item.all_writes / item.size:.1f} "
        f"writes each, p99 {item.reviews.p99:.1f} ms, {item.memory_peak:.0f} MiB"
    )


def _played(cluster: Cluster, plays: Sequence[Play], until: float, say: Say) -> Iterator[Run]:
    each: dict[Mode, float] = {}
    for size, members in groupby(plays, lambda item: item.size):
        fits = fitting(size, sum(each.values()), until - time.monotonic())
        if fits < size:
            say(
                f"{size:,} TrainJobs do not fit into the time: {f'{fits:,} do' if fits else 'none'}"
            )
        for wanted in members if fits else ():
            item = play(cluster, wanted._replace(size=fits), wanted.namespace, say)
            each[item.mode] = item.seconds / item.size
            say(sentence(item))
            yield item


def _is_welcome(cluster: Cluster, namespace: str, mode: Mode) -> bool:
    """Is the runtime known to Trainer's webhook?"""
    probe = json.dumps(objects.trainjob(namespace, mode, 0))
    try:
        cluster.kubectl("create", "--dry-run=server", "-f", "-", stdin=probe)
    except KubectlError:
        return False
    return True


def _seen(kubeconfig: Path) -> Seen:
    said = arguments(kubeconfig)
    answer = httpx.get(said.pop("base_url") + "/metrics", **said)
    return webhooks.read(answer.raise_for_status().text)


def _log(cluster: Cluster) -> Path:
    return next(item.log for item in cluster.status() if item.name == webhook.NAME)
