"""The page: what was promised, then a section for each bench. Pure."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from bench.create.targets import judged as of_clients
from bench.environment import Environment
from bench.growth.objects import Mode
from bench.growth.targets import judged as of_growth
from bench.judgement import Judgement
from bench.latency.targets import judged as of_reviews
from bench.overview import clients, gpus, growth, reviews
from bench.overview.records import Records
from bench.quota.targets import judged as of_gpus
from bench.tables import found, table

HEAD: Final = """\
# Benchmarks

What kueue-steps costs, and what it wins, measured on the [real control plane](getting-started.md)
that `make demo` starts. `make bench` repeats it in forty minutes, with two repeats of each bench
and at most 100 TrainJobs in the last; this page follows from the records in `bench/results`, by
`make bench-page`. Figures are medians over the repeats, with the least and the most in brackets;
without brackets there was one run, or no difference. Repeats: {repeats}. Within a repeat sides take
turns, and the next one goes the other way round. Cells in which kueue-steps loses are here, too,
and each bench has a page with all of them.

The control plane, the server and all clients share {cpus} CPUs, and pods are simulated: ratios
tell more than absolute figures."""

PROMISES: Final = """\
The targets were set before anything was measured. Added with the benches, where they had no number:
80 % of the gain and the gain that the trace itself leaves, 105 % for single steps, clients that
take their time, what "no difference" is, and 20 MiB for "flat". The trace is the one of a hundred
that is nearest to their means; its length and scale were chosen after trials. A target that one
cell misses is missed, whatever the others say."""


def page(records: Records) -> str:
    """The page in Markdown."""
    parts = [
        HEAD.format(cpus=records.latency.conditions.environment.cpus, repeats=_repeats(records)),
        gpus.section(records.quota),
        reviews.section(records.latency),
        clients.section(records.create),
        growth.section(records.growth),
        f"## Promises\n\n{PROMISES}\n\n{_promises(records)}",
        f"## When and with what\n\n{_runs(records.environments)}",
    ]
    return "\n\n".join(parts) + "\n"


def _repeats(records: Records) -> str:
    quota = len({play.repeat for play in records.quota.plays})
    sizes = Counter(run.size for run in records.growth.runs if run.mode is Mode.STEPPED)
    growth = ", ".join(f"{count} with {size:,} TrainJobs" for size, count in sorted(sizes.items()))
    return (
        f"quota {quota}, latency {records.latency.conditions.repeats}, "
        f"create {records.create.conditions.repeats}, growth {growth}"
    )


def _promises(records: Records) -> str:
    judgements = (
        *of_gpus(records.quota),
        *of_reviews(records.latency),
        *of_clients(records.create),
        *of_growth(records.growth),
    )
    lines = (_promise(item) for item in judgements if item.found)
    return table(("target", "", "found"), lines)


def _promise(item: Judgement) -> Iterator[str]:
    yield item.target
    yield "met" if item.is_met else f"**missed** by {len(item.missed)} of {len(item.found)}"
    yield found(item)


def _runs(environments: Mapping[str, Environment]) -> str:
    lines = (
        (
            f"[{name}](../bench/results/{name}.md)",
            item.date,
            f"{item.cpus}",
            item.made_with,
            _load(item.load_before),
        )
        for name, item in environments.items()
    )
    head = ("all cells, and how", "date", "CPUs", "versions", "load before, 1/5/15 minutes")
    return table(head, lines)


def _load(averages: Iterable[float]) -> str:
    return ", ".join(f"{average:g}" for average in averages)
