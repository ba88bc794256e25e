"""A run from the first recorded review to the last measurement."""

import importlib.metadata
import os
import platform
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench import meter
from bench.environment import Observed
from bench.errors import Unmeasured
from bench.latency import contenders, decision, generator, recording
from bench.latency.contenders import Contender, Side
from bench.latency.decision import Timing
from bench.latency.figures import figures
from bench.latency.generator import Load, Target
from bench.latency.keys import kind_of_key
from bench.latency.plan import USUAL_CONNECTIONS, Cell, Plan
from bench.latency.record import Conditions, Measurement, Posted, Record
from bench.latency.reviews import Review, Size, What, key
from localcluster import webhook
from localcluster.build import Say
from localcluster.cluster import Cluster
from localcluster.modules import read_go_mod
from localcluster.toolchain import find_go
from webhook import settings

NAMESPACE: Final = "latency"
WARM_UP_SECONDS: Final = 2.0
DECISION_ROUNDS: Final = 5000
PYTHON_PARTS: Final = ("fastapi", "httptools", "msgspec", "uvicorn", "uvloop")


@dataclass(frozen=True)
class Range:
    """What a load is fired with: the generator, the reviews as files, the servers."""

    vegeta: Path
    folder: Path
    reviews: Mapping[str, Review]
    servers: Mapping[Side, Contender]

    def targets(self, side: Side, sorts: Iterable[tuple[What, Size]]) -> list[Target]:
        """The reviews as targets on a side."""
        found = [self.reviews[key(*item)] for item in sorts]
        return [Target(self.servers[side].url(r), self.file(r), r.uid) for r in found]

    def file(self, review: Review) -> Path:
        """The body of a review."""
        path = self.folder / review.key.replace(" ", "-")
        if not path.exists():
            path.write_bytes(review.body)
        return path

    def measure(self, cell: Cell, side: Side, repeat: int) -> Measurement:
        """One repeat."""
        pid, targets = self.servers[side].pid, self.targets(side, cell.reviews)
        load = os.getloadavg()[0]
        meter.forget_peak(pid)
        before = meter.cpu_seconds(pid)
        volley = generator.fire(self.vegeta, targets, cell.load, self.folder)
        cpu, memory = meter.cpu_seconds(pid) - before, meter.memory(pid)
        count = len(volley.shots)
        return Measurement(
            group=cell.group,
            title=cell.title,
            side=side,
            repeat=repeat,
            denied=volley.denied,
            figures=figures(volley.shots, cell.load.seconds, cell.warm_up),
            cpu=round(cpu / count * 1e6, 1),
            generator=round(volley.generator_seconds / count * 1e6, 1),
            generator_share=round(volley.generator_seconds / cell.load.seconds, 2),
            memory=memory.now,
            memory_peak=memory.peak,
            load=round(load, 2),
        )


def run(cluster: Cluster, plan: Plan, folder: Path, say: Say) -> Record:
    """Record, prepare and measure on a control plane that nobody else uses."""
    vegeta, observed = generator.binary(say=say), Observed()
    cores = meter.cores()
    reviews = recording.record(cluster, NAMESPACE, plan.reviews)
    say(f"recorded {len(reviews)} reviews")
    contenders.make_alike(cluster)
    sides = {Side.OURS: contenders.ours(cluster), Side.KUEUE: contenders.kueues(cluster)}
    answers = {side: answered(contender, reviews) for side, contender in sides.items()}
    everything = list(reviews.values())
    sides[Side.FLOOR] = contenders.floor(cluster, everything, answers[Side.OURS])
    answers[Side.FLOOR] = answered(sides[Side.FLOOR], reviews)
    kind = common_key(sides)
    with meter.pinned_here({cores.serving}):
        decisions = decided(cluster, reviews)
    pin_apart(cluster, sides.values(), cores)
    fired = Range(vegeta, folder, reviews, sides)
    with meter.pinned_here({cores.asking}):
        warm_up(fired, say)
        measurements = list(measured(fired, plan, say))
    return Record(
        Conditions(observed.until_now(), tools(say), kind, cores.are_one, plan.repeats),
        {name: _posted(review, answers) for name, review in reviews.items()},
        decisions,
        measurements,
    )


def pin_apart(cluster: Cluster, servers: Iterable[Contender], cores: meter.Cores) -> None:
    """The servers share a core, and everything else of the control plane has the rest."""
    for status in cluster.status():
        meter.pin(status.pid, cores.rest)
    for server in servers:
        meter.pin(server.pid, {cores.serving})


def answered(contender: Contender, reviews: Mapping[str, Review]) -> dict[str, bytes]:
    """The contender's answers to every review. Raises WrongAnswer."""
    return {name: contender.answer(review) for name, review in reviews.items()}


def decided(cluster: Cluster, reviews: Mapping[str, Review]) -> dict[str, Timing]:
    """How long the decision alone takes, for each median review."""
    path = cluster.state_dir / webhook.NAME / "configuration.yaml"
    policy, read = settings.load(path).policy, decision.reader(cluster)
    medians = {name: item for name, item in reviews.items() if item.size is Size.MEDIAN}
    return {
        name: decision.timing(
            item, decision.facts_for(item.body, read, policy), policy, DECISION_ROUNDS
        )
        for name, item in medians.items()
    }


def warm_up(fired: Range, say: Say) -> None:
    """Let every side answer every median review for a while."""
    medians = [(what, Size.MEDIAN) for what in What]
    for side in fired.servers:
        load = Load(USUAL_CONNECTIONS, WARM_UP_SECONDS)
        generator.fire(fired.vegeta, fired.targets(side, medians), load, fired.folder)
    say("warmed up")


def measured(fired: Range, plan: Plan, say: Say) -> Iterator[Measurement]:
    """All repeats of all cells."""
    say(f"about {plan.seconds / 60:.0f} minutes to go")
    for repeat in range(plan.repeats):
        for cell in plan.cells:
            found = [fired.measure(cell, side, repeat) for side in cell.in_order(repeat)]
            shown = (f"{m.side} {m.figures.per_second:.0f}/s" for m in found)
            say(f"{repeat + 1} of {plan.repeats}, {cell.name}: {', '.join(shown)}")
            yield from found


def common_key(sides: Mapping[Side, Contender]) -> str:
    """The kind of key that all of them serve with. Raises Unmeasured."""
    kinds = {side: kind_of_key(contender.port) for side, contender in sides.items()}
    if len(set(kinds.values())) > 1:
        raise Unmeasured(f"the servers' keys differ in kind: {kinds}")
    return kinds[Side.OURS]


def tools(say: Say) -> dict[str, str]:
    """Versions of what the servers and the load generator are made with."""
    go = find_go(read_go_mod(), say=say).version.removeprefix("go")
    required = read_go_mod(generator.MODULE).versions
    versions = {name: importlib.metadata.version(name) for name in PYTHON_PARTS}
    ours = {"Python": platform.python_version(), **versions}
    return ours | {"Go": go, "vegeta": required[generator.VEGETA].removeprefix("v")}


def _posted(review: Review, answers: Mapping[Side, Mapping[str, bytes]]) -> Posted:
    sizes = {side: len(given[review.key]) for side, given in answers.items()}
    return Posted(len(review.body), review.kueue_path, sizes)
