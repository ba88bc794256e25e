"""`python -m bench.timeline`: play the demo, keep its record, and draw it.

`--from FILE` draws a record that is there already, and plays nothing.
"""

import signal
import sys
from functools import partial
from pathlib import Path

import click
from rich.console import Console

from bench.environment import Observed
from bench.errors import BenchError
from bench.pictures import folder
from bench.timeline import picture, record
from bench.timeline.outcome import recorded
from localcluster.demo import session
from localcluster.demo.play import Demo
from localcluster.errors import LocalClusterError
from localcluster.modules import PROJECT_ROOT

KEPT = PROJECT_ROOT / "bench" / "results" / "timeline.json"
NAME = "timeline"
FINDING = 1


@click.command()
@click.option(
    "--from",
    "source",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Draw this record; nothing is run.",
)
@click.option(
    "--pictures",
    type=click.Path(file_okay=False, path_type=Path),
    default=folder.PICTURES,
    show_default="docs/pictures",
    help="Folder of the pictures.",
)
def main(*, source: Path | None, pictures: Path) -> None:
    """Play TrainJobs whole and stepped, and draw the quota over time."""
    try:
        has_shown_all = source is not None or play(KEPT)
        draw(source or KEPT, pictures)
    except (BenchError, LocalClusterError) as error:
        raise click.ClickException(str(error)) from error
    sys.exit(0 if has_shown_all else FINDING)


def play(kept: Path) -> bool:
    """Play the demo and write its record; did the demo show all that it claims?"""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    observed = Observed()
    with session.passing(partial(click.echo, err=True)) as cluster:
        outcome = Demo(cluster, Console()).run()
    record.write(kept, recorded(outcome, observed.until_now()))
    return outcome.has_shown_all


def draw(source: Path, pictures: Path) -> None:
    """Draw the record in every theme."""
    measured = record.read(source)
    folder.save(NAME, partial(picture.draw, measured), pictures)


if __name__ == "__main__":
    main()
