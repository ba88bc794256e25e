"""`python -m bench.create`: measure, write the record and the page, and say what was missed."""

from functools import partial
from pathlib import Path
from typing import Final

import click

from bench.command import Bench, options
from bench.create import plan, record, session
from bench.create.page import page
from bench.create.targets import judged
from bench.terminal import since_start
from localcluster import webhook
from localcluster.demo.session import passing

BENCH: Final = Bench("create", record.read, record.write, page, judged)
REPEATS: Final = 3


@click.command()
@click.option("--quick", is_flag=True, help="One short repeat, to see that all of it works.")
@click.option("--repeats", default=REPEATS, show_default=True, help="Repeats of every cell.")
@click.option(
    "--clients",
    multiple=True,
    type=click.IntRange(min=1),
    default=plan.CLIENTS,
    show_default=True,
    help="How many clients at a time; may be repeated.",
)
@options
def main(
    *, quick: bool, repeats: int, clients: tuple[int, ...], folder: Path, source: Path | None
) -> None:
    """Measure creates and updates with and without our registration, on a passing control plane."""
    chosen = plan.quick() if quick else plan.full(clients, repeats)
    BENCH.run(partial(_measured, chosen), folder, source)


def _measured(chosen: plan.Plan) -> record.Record:
    say = since_start()
    with passing(say) as cluster:
        webhook.install(cluster)
        return session.run(cluster, chosen, say)


if __name__ == "__main__":
    main()
