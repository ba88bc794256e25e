"""`python -m bench.overview`: write docs/benchmarks.md, and its picture, from bench/results."""

from functools import partial
from pathlib import Path
from typing import Final

import click

from bench.command import RESULTS
from bench.errors import BenchError
from bench.overview.page import page
from bench.overview.readme import renewed
from bench.overview.records import read
from bench.pictures import folder
from bench.quota import picture
from localcluster.modules import PROJECT_ROOT

PAGE: Final = PROJECT_ROOT / "docs" / "benchmarks.md"
README: Final = PROJECT_ROOT / "README.md"
PICTURE: Final = "quota"


@click.command()
@click.option(
    "--from",
    "source",
    type=click.Path(file_okay=False, path_type=Path),
    default=RESULTS,
    show_default="bench/results",
    help="Where the records are.",
)
def main(source: Path) -> None:
    """Write the page, and draw the quota over time for it."""
    try:
        found = read(source)
    except BenchError as error:
        raise click.ClickException(str(error)) from error
    PAGE.write_text(page(found))
    README.write_text(renewed(README.read_text(), found))
    folder.save(PICTURE, partial(picture.draw, found.quota))
    click.echo(f"wrote {PAGE.relative_to(PROJECT_ROOT)}, its picture, and the figures in README.md")


if __name__ == "__main__":
    main()
