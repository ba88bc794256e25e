"""What every bench does around its measuring: options, files, and a word on each target."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

import click

from bench.errors import BenchError
from bench.judgement import Judgement
from bench.terminal import interruptible
from localcluster.errors import LocalClusterError

RecordT = TypeVar("RecordT")
CommandT = TypeVar("CommandT", bound=Callable[..., Any])

RESULTS: Final = Path(__file__).resolve().parent / "results"


def options(command: CommandT) -> CommandT:
    """`--to FOLDER` and `--from RECORD`, as `folder` and `source`."""
    source = click.option(
        "--from",
        "source",
        type=click.Path(dir_okay=False, path_type=Path),
        help="Write the page of this record, and measure nothing.",
    )
    folder = click.option(
        "--to",
        "folder",
        type=click.Path(file_okay=False, path_type=Path),
        default=RESULTS,
        show_default="bench/results",
        help="Where the record and the page go.",
    )
    return folder(source(command))


@dataclass(frozen=True)
class Bench(Generic[RecordT]):
    """Its name, its records, and what is made of one: a page, judgements, and perhaps more."""

    name: str
    read: Callable[[Path], RecordT]
    write: Callable[[RecordT, Path], None]
    page: Callable[[RecordT], str]
    judged: Callable[[RecordT], Iterable[Judgement]]
    draw: Callable[[RecordT, Path], object] | None = None

    def run(self, measured: Callable[[], RecordT], folder: Path, source: Path | None) -> None:
        """Measure, or read the record; write all of it, and say which targets were missed."""
        interruptible()
        try:
            found = self.read(source) if source else measured()
        except (BenchError, LocalClusterError) as error:
            raise click.ClickException(str(error)) from error
        folder.mkdir(parents=True, exist_ok=True)
        if not source:
            self.write(found, folder / f"{self.name}.json")
        page = folder / f"{self.name}.md"
        page.write_text(self.page(found))
        if self.draw:
            self.draw(found, folder)
        for judgement in self.judged(found):
            click.echo(f"{'met' if judgement.is_met else 'missed'}: {judgement.target}")
        click.echo(f"{page} has it all")
