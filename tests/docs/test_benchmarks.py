"""The benchmarks' page, its picture and README's figures are what their records make of them."""

from functools import partial
from pathlib import Path

import pytest

from bench.command import RESULTS
from bench.create.page import page as create_page
from bench.growth.page import page as growth_page
from bench.latency import pairs
from bench.latency.page import page as latency_page
from bench.overview.__main__ import PAGE, PICTURE, README
from bench.overview.page import page
from bench.overview.readme import renewed
from bench.overview.records import read
from bench.pictures import folder
from bench.pictures.palette import THEMES, Palette
from bench.quota import picture
from bench.quota.page import page as quota_page

RECORDS = read(RESULTS)
PAIRED = pairs.read(RESULTS / "paired.json")
LAST_STEP = pairs.read(RESULTS / "last-step" / "paired.json")
DECISION = Path(__file__).parents[2] / "docs" / "decisions" / "0005-what-a-review-costs.md"


def test_the_page_is_up_to_date() -> None:
    """`make bench-page` would change nothing."""
    assert PAGE.read_text() == page(RECORDS)


def test_readmes_figures_are_up_to_date() -> None:
    """Nor would it there."""
    text = README.read_text()
    assert text == renewed(text, RECORDS)


@pytest.mark.parametrize("palette", THEMES, ids=lambda theme: theme.name)
@pytest.mark.parametrize("where", [folder.PICTURES, RESULTS], ids=["docs", "results"])
def test_the_picture_is_the_records(palette: Palette, where: Path) -> None:
    """In both themes, in both places."""
    shown = folder.file_of(PICTURE, palette, where).read_text()
    assert shown == picture.draw(RECORDS.quota, palette)


PAGES = {
    "latency": partial(latency_page, RECORDS.latency),
    "create": partial(create_page, RECORDS.create),
    "quota": partial(quota_page, RECORDS.quota),
    "growth": partial(growth_page, RECORDS.growth),
    "paired": partial(pairs.page, PAIRED),
    "last-step/paired": partial(pairs.page, LAST_STEP),
}


@pytest.mark.parametrize("name", PAGES)
def test_the_page_of_a_bench_is_its_records(name: str) -> None:
    """With every cell; `--from` would write the same."""
    assert (RESULTS / f"{name}.md").read_text() == PAGES[name]()


def test_what_our_decisions_were_worth_is_the_paired_record() -> None:
    """Decision 0005 tells the run, and beside which revision."""
    text = DECISION.read_text()
    assert pairs.beside(PAIRED) in text
    assert f"BASE={PAIRED.base}" in text


def test_the_last_step_is_beside_the_revision_that_its_decision_names() -> None:
    """Eight repeats of each review, and what creates gained by it."""
    text = " ".join(DECISION.read_text().split())
    times = [row.split("|")[2].split()[0] for row in pairs.beside(LAST_STEP).splitlines()[2:]]
    assert f"BASE={LAST_STEP.base}" in text
    assert len(LAST_STEP.pairs) == 8 * len(times)
    assert f"{times[0]} times for TrainJob CREATE and {times[1]} for JobSet CREATE" in text
    assert f"{min(times[2:])} to {max(times[2:])} for Jobs" in text
