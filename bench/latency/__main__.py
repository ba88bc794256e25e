"""`python -m bench.latency`: measure, write the record and the page, and say what was missed."""

import tempfile
from functools import partial
from pathlib import Path
from typing import Final

import click

from bench.command import Bench, options
from bench.latency import plan, record, session
from bench.latency.page import page
from bench.latency.targets import judged
from bench.terminal import since_start
from localcluster import webhook
from localcluster.demo.session import passing

BENCH: Final = Bench("latency", record.read, record.write, page, judged)
REPEATS: Final = 3


@click.command()
@click.option("--quick", is_flag=True, help="One short repeat, to see that all of it works.")
@click.option("--repeats", default=REPEATS, show_default=True, help="Repeats of every cell.")
@options
def main(*, quick: bool, repeats: int, folder: Path, source: Path | None) -> None:
    """Measure our server beside Kueue's own webhook on a control plane that ends afterwards."""
    BENCH.run(partial(_measured, quick=quick, repeats=repeats), folder, source)


def _measured(*, quick: bool, repeats: int) -> record.Record:
    chosen = plan.quick() if quick else plan.full(repeats)
    say = since_start()
    with passing(say) as cluster, tempfile.TemporaryDirectory() as folder:
        webhook.install(cluster)
        return session.run(cluster, chosen, Path(folder), say)


if __name__ == "__main__":
    main()
