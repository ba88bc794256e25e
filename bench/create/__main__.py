"""`python -m bench.create`: measure, write the record and the page, and say what was missed."""

from pathlib import Path
from typing import Final

import click

from bench.create import plan, record, session
from bench.create.page import page
from bench.create.targets import judged
from bench.errors import BenchError
from bench.terminal import interruptible, since_start
from localcluster import webhook
from localcluster.demo.session import passing
from localcluster.errors import LocalClusterError

RESULTS: Final = Path(__file__).resolve().parents[1] / "results"
NAME: Final = "create"
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
def main(
    *, quick: bool, repeats: int, clients: tuple[int, ...], folder: Path, source: Path | None
) -> None:
    """Measure creates and updates with and without our registration, on a passing control plane."""
    interruptible()
    chosen = plan.quick() if quick else plan.full(clients, repeats)
    try:
        found = record.read(source) if source else _measured(chosen)
    except (BenchError, LocalClusterError) as error:
        raise click.ClickException(str(error)) from error
    folder.mkdir(parents=True, exist_ok=True)
    if not source:
        record.write(found, folder / f"{NAME}.json")
    (folder / f"{NAME}.md").write_text(page(found))
    for judgement in judged(found):
        click.echo(f"{'met' if judgement.is_met else 'missed'}: {judgement.target}")
    click.echo(f"{folder / NAME}.md has it all")


def _measured(chosen: plan.Plan) -> record.Record:
    say = since_start()
    with passing(say) as cluster:
        webhook.install(cluster)
        return session.run(cluster, chosen, say)


if __name__ == "__main__":
    main()
