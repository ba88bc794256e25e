"""`python -m bench.quota`: measure, write record, page and picture, and say what was missed."""

from functools import partial
from pathlib import Path
from typing import Final

import click

from bench.command import Bench, options
from bench.judgement import Judgement
from bench.pictures import folder as pictures
from bench.quota import picture, plan, record, session
from bench.quota.page import page
from bench.quota.plan import Plan
from bench.quota.targets import judged
from bench.terminal import since_start
from localcluster import webhook
from localcluster.demo.session import passing


def _judged(found: record.Record) -> list[Judgement]:
    """Of the targets for which anything was played."""
    return [judgement for judgement in judged(found) if judgement.found]


def _draw(found: record.Record, folder: Path) -> None:
    pictures.save(NAME, partial(picture.draw, found), folder)


NAME: Final = "quota"
BENCH: Final = Bench(NAME, record.read, record.write, page, _judged, _draw)


@click.command()
@click.option("--quick", is_flag=True, help="One small cell, to see that all of it works.")
@click.option(
    "--load",
    "loads",
    multiple=True,
    type=click.FloatRange(min=0, min_open=True),
    default=plan.LOADS,
    show_default=True,
    help="Of the quota, by training alone; may be repeated.",
)
@click.option(
    "--trainjobs",
    type=click.IntRange(min=2),
    default=plan.TRAINJOBS,
    show_default=True,
    help="How many in the trace.",
)
@click.option(
    "--repeats",
    type=click.IntRange(min=1),
    default=plan.REPEATS,
    show_default=True,
    help="Repeats of every cell.",
)
@click.option("--seed", default=plan.SEED, show_default=True, help="Another one, another trace.")
@options
def main(
    *,
    quick: bool,
    loads: tuple[float, ...],
    trainjobs: int,
    repeats: int,
    seed: int,
    folder: Path,
    source: Path | None,
) -> None:
    """Play TrainJobs whole and stepped on a control plane that ends afterwards."""
    chosen = plan.QUICK if quick else Plan(loads, trainjobs, repeats, seed)
    BENCH.run(partial(_measured, chosen), folder, source)


def _measured(chosen: Plan) -> record.Record:
    say = since_start()
    with passing(say) as cluster:
        webhook.install(cluster)
        return session.run(cluster, chosen, say)


if __name__ == "__main__":
    main()
