"""`python -m bench.quota`: measure, write record, page and picture, and say what was missed."""

from functools import partial
from pathlib import Path
from typing import Final

import click

from bench.errors import BenchError
from bench.pictures import folder as pictures
from bench.quota import picture, plan, record, session
from bench.quota.page import page
from bench.quota.plan import Plan
from bench.quota.targets import judged
from bench.terminal import interruptible, since_start
from localcluster import webhook
from localcluster.demo.session import passing
from localcluster.errors import LocalClusterError

RESULTS: Final = Path(__file__).resolve().parents[1] / "results"
NAME: Final = "quota"


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
@click.option(
    "--to",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=RESULTS,
    show_default="bench/results",
    help="Where record, page and picture go.",
)
@click.option(
    "--from",
    "source",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write page and picture of this record, and measure nothing.",
)
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
    interruptible()
    chosen = plan.QUICK if quick else Plan(loads, trainjobs, repeats, seed)
    try:
        found = record.read(source) if source else _measured(chosen)
    except (BenchError, LocalClusterError) as error:
        raise click.ClickException(str(error)) from error
    _write(found, folder, is_new=source is None)
    for judgement in judged(found):
        if judgement.found:
            click.echo(f"{'met' if judgement.is_met else 'missed'}: {judgement.target}")
    click.echo(f"{folder / NAME}.md has it all")


def _measured(chosen: Plan) -> record.Record:
    say = since_start()
    with passing(say) as cluster:
        webhook.install(cluster)
        return session.run(cluster, chosen, say)


def _write(found: record.Record, folder: Path, *, is_new: bool) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    if is_new:
        record.write(found, folder / f"{NAME}.json")
    (folder / f"{NAME}.md").write_text(page(found))
    pictures.save(NAME, partial(picture.draw, found), folder)


if __name__ == "__main__":
    main()
