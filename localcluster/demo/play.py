"""The order of things: whole first, before our webhook is installed, then stepped.

One after the other, because the machine is small and the figures are to be compared.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from localcluster import audit, webhook
from localcluster.cluster import Cluster
from localcluster.demo import counts, report, trace
from localcluster.demo.claims import Claim, claims, unviolated
from localcluster.demo.client import Client
from localcluster.demo.errors import DemoFailed
from localcluster.demo.frame import Frame, frame
from localcluster.demo.meter import Figures, Sample, Writes, measure
from localcluster.demo.scene import Scene
from localcluster.demo.trace import SHIPPED, STEPPED, WHOLE, Lane
from localcluster.demo.view import stage
from localcluster.demo.watch import sample, scenes
from localcluster.invariants.watcher import Watcher
from localcluster.manifests import Object

MOST_SECONDS = 150.0
WHY_STEPPED_ONLY = (
    f"Trainer's own runtime {trace.SHIPPED_RUNTIME}, as shipped, stepped only: left whole this "
    'TrainJob hangs with Trainer 2.3.0 and JobSet 0.12.0 ("Value is immutable" at resume).'
)


@dataclass(frozen=True)
class Played:
    """One lane, from the submission until every GPU is given back."""

    frames: list[Frame]
    figures: Figures


@dataclass(frozen=True)
class Outcome:
    """Both lanes, and what the demo claims of them."""

    whole: Played
    stepped: Played
    claims: list[Claim]

    @property
    def has_shown_all(self) -> bool:
        """Does every claim hold?"""
        return all(claim.holds for claim in self.claims)


@dataclass(frozen=True)
class Demo:
    """The demo on a control plane that is up and without our webhook."""

    cluster: Cluster
    console: Console

    def run(self, report_to: Path | None = None) -> Outcome:
        """Play everything and report."""
        self._prepare()
        whole = self._measured(WHOLE)
        self._say("installing our webhook")
        webhook.install(self.cluster)
        with Watcher(self.cluster.kubeconfig(), self.cluster.audit_log) as watcher:
            stepped = self._measured(STEPPED)
            self._play_shipped()
            watcher.settle([STEPPED.namespace, SHIPPED.namespace])
            violations = watcher.violations()
        starts = counts.most_starts(audit.events(self.cluster.audit_log), STEPPED.namespace)
        figures = (whole.figures, stepped.figures)
        made = claims(*figures, most_starts=starts) + unviolated(violations)
        self.console.print(report.table(*figures))
        report.print_claims(self.console, made)
        if report_to:
            report.write(report_to, *figures)
        return Outcome(whole, stepped, made)

    def _prepare(self) -> None:
        self._say(f"setting up queues of {trace.GPUS} GPUs and a training runtime")
        lanes = (WHOLE, STEPPED, SHIPPED)
        objects = [item for lane in lanes for item in trace.lane_objects(lane)]
        self.cluster.apply([trace.flavor(), *objects])
        active = ("wait", "--for=condition=Active", "--timeout=30s", "--all")
        self.cluster.kubectl(*active, "clusterqueues.kueue.x-k8s.io")
        self.cluster.kubectl(*active, "localqueues.kueue.x-k8s.io", "--all-namespaces")

    def _measured(self, lane: Lane) -> Played:
        samples, frames = self._play(lane, trace.trainjobs(lane))
        writes = Writes(
            reviews=counts.reviews(self._webhook_log, lane.namespace),
            jobs=counts.job_writes(audit.events(self.cluster.audit_log), lane.namespace),
            trainjobs=len(trace.TRAINJOBS),
        )
        return Played(frames, measure(samples, writes, quota=trace.GPUS))

    def _play_shipped(self) -> None:
        self._say(WHY_STEPPED_ONLY)
        _, frames = self._play(SHIPPED, [trace.shipped_trainjob()])
        self._say(f"Stepped it ran to its end in {frames[-1].seconds:.0f} s.")

    def _play(self, lane: Lane, trainjobs: Sequence[Object]) -> tuple[list[Sample], list[Frame]]:
        """Submit as a plain user, and watch until all are done and have given their GPUs back."""
        names = [item["metadata"]["name"] for item in trainjobs]
        samples: list[Sample] = []
        frames: list[Frame] = []
        with Client(self.cluster.kubeconfig()) as eyes, stage(self.console) as show:
            for scene in scenes(eyes, lane.namespace):
                samples.append(sample(scene, names))
                now = frame(lane, names, scene, samples)
                frames.append(now)
                show(now)
                if samples[-1].is_over and not now.reserved:
                    break
                refuse_failure(now, scene)
                if len(samples) == 1:
                    self._submit(trainjobs)
        return samples, frames

    def _submit(self, trainjobs: Sequence[Object]) -> None:
        with Client(self.cluster.kubeconfig(trace.USER)) as user:
            for trainjob in trainjobs:
                user.create("trainjobs", trainjob)

    def _say(self, line: str) -> None:
        self.console.print(line, highlight=False, soft_wrap=True)

    @property
    def _webhook_log(self) -> Path:
        return self.cluster.state_dir / "logs" / f"{webhook.NAME}.log"


def refuse_failure(now: Frame, scene: Scene) -> None:
    """Raise DemoFailed if a TrainJob has failed, or if they take too long."""
    for name in now.steps:
        if scene.has_failed(name):
            raise DemoFailed(f"{now.lane.namespace}: TrainJob {name} failed")
    if now.seconds > MOST_SECONDS:
        steps = "; ".join(
            f"{name} > {step}: {state}"
            for name, states in now.steps.items()
            for step, state in states.items()
        )
        raise DemoFailed(f"{now.lane.namespace}: not done after {MOST_SECONDS:.0f} s: {steps}")
