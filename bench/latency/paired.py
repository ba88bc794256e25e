"""`python -m bench.latency.paired CHECKOUT`: our server beside that of another checkout.

What a change is worth: both run at a time with this checkout's libraries, are asked in turn, and
have the same core. A difference is one of the servers, whatever the machine does meanwhile.
"""

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

import click

from bench import meter
from bench.command import Bench, options
from bench.environment import Observed
from bench.errors import Unmeasured
from bench.latency import contenders, generator, pairs, plan, recording
from bench.latency.contenders import Contender, Side
from bench.latency.pairs import Pair
from bench.latency.plan import Group
from bench.latency.session import Range, pin_apart
from bench.terminal import since_start
from localcluster import webhook
from localcluster.cluster import Cluster
from localcluster.demo.session import passing
from localcluster.layout import HOST, unused

OTHER: Final = "webhook-other"
REPEATS: Final = 4
BENCH: Final = Bench("paired", pairs.read, pairs.write, pairs.page, lambda _: ())


@click.command()
@click.argument(
    "checkout", type=click.Path(exists=True, file_okay=False, path_type=Path), required=False
)
@click.option("--base", help="What the other CHECKOUT is called.")
@click.option("--repeats", default=REPEATS, show_default=True, help="Repeats of every review.")
@options
def main(
    checkout: Path | None, base: str | None, repeats: int, folder: Path, source: Path | None
) -> None:
    """Measure what a median review costs here and in another CHECKOUT."""

    def measure() -> pairs.Record:
        if checkout is None or base is None:
            raise click.UsageError("name a CHECKOUT and its --base; or --from a record")
        with passing(since_start()) as cluster, tempfile.TemporaryDirectory() as bodies:
            webhook.install(cluster)
            observed = Observed()
            found = list(measured(cluster, checkout.resolve(), repeats, Path(bodies)))
            return pairs.Record(base, observed.until_now(), found)

    BENCH.run(measure, folder, source)


def measured(cluster: Cluster, checkout: Path, repeats: int, folder: Path) -> Iterator[Pair]:
    """All repeats of the usual cells, A B and then B A. Raises Unmeasured and WrongAnswer."""
    vegeta, cores = generator.binary(say=since_start()), meter.cores()
    cells = [cell for cell in plan.full(1).cells if cell.group is Group.USUAL]
    reviews = recording.record(cluster, "paired", {item for c in cells for item in c.reviews})
    ours, other = contenders.ours(cluster), beside(cluster, checkout)
    for review in reviews.values():
        if ours.answer(review) != other.answer(review):
            raise Unmeasured(f"the two answer {review.key} differently")
    pin_apart(cluster, (ours, other), cores)
    here, there = (Range(vegeta, folder, reviews, {Side.OURS: one}) for one in (ours, other))
    with meter.pinned_here({cores.asking}):
        for repeat in range(repeats + 1):
            for cell in cells:
                order = (here, there) if repeat % 2 else (there, here)
                found = [one.measure(cell, Side.OURS, repeat) for one in order]
                if repeat:  # The first one warms up.
                    yield Pair(*reversed(found)) if repeat % 2 else Pair(*found)


def beside(cluster: Cluster, checkout: Path) -> Contender:
    """The server of another checkout, as one more replica of ours."""
    component = contenders.component_of(cluster, webhook.NAME)
    port, operations = unused(2)
    environment = {
        **component.environment,
        # Before the installed package, and instead of the folder in which all of this runs.
        "PYTHONPATH": str(checkout),
        "PYTHONSAFEPATH": "1",
        contenders.PORT_SETTING: str(port),
        "KUEUE_STEPS_SERVER__OPERATIONS_PORT": str(operations),
    }
    ready = f"http://{HOST}:{operations}/readyz"
    process = cluster.spawn(replace(component, name=OTHER, environment=environment, ready=ready))
    return Contender(Side.OURS, process.pid, port, lambda review: review.our_path)


if __name__ == "__main__":
    main()
