"""`python -m bench.latency`: measure, write the record and the page, and say what was missed."""

import tempfile
from pathlib import Path
from typing import Final

import click

from bench.errors import BenchError
from bench.latency import plan, record, session
from bench.latency.page import page
from bench.latency.targets import judged
from bench.terminal import interruptible, since_start
from localcluster import webhook
from localcluster.demo.session import passing
from localcluster.errors import LocalClusterError

RESULTS: Final = Path(__file__).resolve().parents[1] / "results"
NAME: Final = "latency"
REPEATS: Final = 5


@click.command()
@click.option("--quick", is_flag=True, help="One short repeat, to see that all of it works.")
@click.option("--repeats", default=REPEATS, show_default=True, help="Repeats of every cell.")
@click.option(
    "--to",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=RESULTS,
    show_default="bench/results",
    help="Where the record and the page go.",
)
@click.option(
    "--from",
    "source",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the page of this record, and measure nothing.",
)
def main(*, quick: bool, repeats: int, folder: Path, source: Path | None) -> None:
    """Measure our server beside Kueue's own webhook on a control plane that ends afterwards."""
    interruptible()
    try:
        found = record.read(source) if source else _measured(quick=quick, repeats=repeats)
    except (BenchError, LocalClusterError) as error:
        raise click.ClickException(str(error)) from error
    folder.mkdir(parents=True, exist_ok=True)
    if not source:
        record.write(found, folder / f"{NAME}.json")
    (folder / f"{NAME}.md").write_text(page(found))
    for judgement in judged(found):
        click.echo(f"{'met' if judgement.is_met else 'missed'}: {judgement.target}")
    click.echo(f"{folder / NAME}.md has it all")


def _measured(*, quick: bool, repeats: int) -> record.Record:
    chosen = plan.quick() if quick else plan.full(repeats)
    say = since_start()
    with passing(say) as cluster, tempfile.TemporaryDirectory() as folder:
        webhook.install(cluster)
        return session.run(cluster, chosen, Path(folder), say)


if __name__ == "__main__":
    main()
