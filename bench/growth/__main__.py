"""`python -m bench.growth`: measure, write the record and the page, and say what was missed."""

from functools import partial
from pathlib import Path
from typing import Final

import click

from bench.command import Bench, options
from bench.growth import plan, record, session
from bench.growth.page import page
from bench.growth.targets import judged
from bench.terminal import since_start
from localcluster.demo.session import passing

BENCH: Final = Bench("growth", record.read, record.write, page, judged)


@click.command()
@click.option("--quick", is_flag=True, help="Few TrainJobs, once, to see that all of it works.")
@click.option(
    "--large", is_flag=True, help=f"With {plan.LARGE:,} TrainJobs too, whatever time it takes."
)
@click.option(
    "--size",
    "sizes",
    multiple=True,
    type=click.IntRange(min=1),
    default=plan.SIZES,
    show_default=True,
    help="How many TrainJobs; may be repeated.",
)
@click.option(
    "--minutes",
    default=plan.MINUTES,
    show_default=True,
    help="Sizes above 100 are cut to what fits; 0 cuts nothing.",
)
@click.option(
    "--repeats", default=plan.REPEATS, show_default=True, help="Plays of every size up to 10."
)
@options
def main(
    *,
    quick: bool,
    large: bool,
    sizes: tuple[int, ...],
    minutes: float,
    repeats: int,
    folder: Path,
    source: Path | None,
) -> None:
    """Play ever more TrainJobs, whole and stepped, on a control plane that ends afterwards."""
    wanted = plan.QUICK_SIZES if quick else (*sizes, *((plan.LARGE,) if large else ()))
    plays = list(plan.in_order(wanted, 1 if quick else repeats))
    seconds = float("inf") if large or not minutes else minutes * 60
    BENCH.run(partial(_measured, plays, seconds), folder, source)


def _measured(plays: list[plan.Play], seconds: float) -> record.Record:
    say = since_start()
    with passing(say) as cluster:
        return session.run(cluster, plays, seconds, say)


if __name__ == "__main__":
    main()
