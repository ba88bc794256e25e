"""The order of things on a control plane that nobody else uses: one play after the other."""

import os
from collections.abc import Callable, Iterator
from typing import Final

from bench.environment import Observed
from bench.quota import objects, player
from bench.quota.courses import courses
from bench.quota.figures import curve, figures
from bench.quota.plan import QUOTA, Plan, Play
from bench.quota.record import Measurement, Record
from bench.quota.recorder import Recorder
from localcluster.cluster import Cluster
from localcluster.demo.trace import flavor
from localcluster.invariants.watcher import Watcher
from localcluster.kwok import nodes

Say = Callable[[str], None]

NODES: Final = 2 * QUOTA // 8
"""Twice the quota, so that no TrainJob waits for eight GPUs side by side."""


def run(cluster: Cluster, plan: Plan, say: Say) -> Record:
    """Prepare everything, then play everything, with the invariants watched."""
    observed = Observed()
    prepare(cluster, plan)
    say(f"about {plan.seconds / 60:.0f} minutes to go")
    with (
        Watcher(cluster.kubeconfig(), cluster.audit_log) as watcher,
        Recorder(cluster.kubeconfig()) as recorder,
    ):
        plays = list(played(cluster, plan, watcher, recorder, say))
    return Record(observed.until_now(), QUOTA, plan.seed, plan.trace, plays)


def prepare(cluster: Cluster, plan: Plan) -> None:
    """Nodes, and the queues and runtimes of every play."""
    trace = plan.trace
    surroundings = [item for play in plan.plays for item in objects.surroundings(play, trace)]
    cluster.apply([flavor(), *nodes(NODES), *surroundings])
    wait = ("wait", "--timeout=60s", "--all")
    cluster.kubectl(*wait, "--for=condition=Ready", "nodes")
    cluster.kubectl(*wait, "--for=condition=Active", "clusterqueues.kueue.x-k8s.io")
    cluster.kubectl(
        *wait, "--for=condition=Active", "localqueues.kueue.x-k8s.io", "--all-namespaces"
    )


def played(
    cluster: Cluster, plan: Plan, watcher: Watcher, recorder: Recorder, say: Say
) -> Iterator[Measurement]:
    """Every play."""
    plays, trace = list(plan.plays), plan.trace
    for number, play in enumerate(plays, start=1):
        submitted = player.submit(cluster, play, trace)
        player.await_end(recorder, play, trace)
        watcher.settle([play.namespace])
        seen = recorder.seen(play.namespace)
        violations = [item.sentence for item in watcher.violations([play.namespace])]
        found = Measurement(
            play.load,
            play.mode,
            play.repeat,
            round(os.getloadavg()[0], 2),
            figures(seen, trace, submitted, violations),
            list(courses(seen, trace, submitted)),
            curve(seen, submitted.start),
        )
        say(f"{number} of {len(plays)}, {_line(play, found)}")
        yield found


def _line(play: Play, found: Measurement) -> str:
    made = found.figures
    return (
        f"load {play.load:g}, {play.mode}: {made.makespan:.1f} s, "
        f"{made.gpu_seconds.reserved:.0f} GPU-seconds reserved, {made.idle:.0f} idle"
    )
