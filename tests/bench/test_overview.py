"""The page of all benches says what their records say, and hides no target that is missed."""

from typing import Any

import pytest
from msgspec.structs import replace

from bench.growth.objects import Mode
from bench.overview.page import page
from bench.overview.readme import BEGIN, END, renewed
from bench.overview.records import Records
from tests.bench import creates, growths, latencies, quotas

SIZES = (10, 100, 1000)


def records(**changes: Any) -> Records:
    """Of four good runs."""
    runs = [growths.run(size, mode) for size in SIZES for mode in Mode]
    return Records(
        latencies.good(),
        creates.record(*creates.good()),
        quotas.record(*quotas.plays()),
        growths.record(*runs),
    )._replace(**changes)


def lines(text: str, beginning: str) -> list[str]:
    """Those that begin so."""
    return [line for line in text.splitlines() if line.startswith(beginning)]


def test_every_bench_has_its_section_and_its_run() -> None:
    """And each leads to the page with all cells."""
    text = page(records())
    assert len(lines(text, "## ")) == 6
    for name in ("quota", "latency", "create", "growth"):
        (run,) = lines(text, f"| [{name}](../bench/results/{name}.md)")
        assert "2026-01-01" in run


FIGURES: dict[str, str] = {
    "a review beside Kueue's": "| Job CREATE by JobSet | 4.00 | 86% | 6,000 | 1,500 | 5.0 | 20.0 |",
    "an open loop": "| open | 1.25 |  | 1,000 | 800 | 5.0 | 20.0 |",
    "a client in a hurry": "| CREATE TrainJob | in a hurry | 21.0 | 20.0 | +1.0 |",
    "one that is not": "| CREATE TrainJob | 50 requests/s | 21.0 | 20.0 | +1.0 |",
    "GPU-seconds": "| 0.5 | stepped | 1,000 | 100 | 0 | 80 | 20 |",
    "growth": "| 1,000 | stepped | 50.0 | 6.0 | 505.0 | 20.0 | 2.0 | 9.00 | 50.0 |",
}


@pytest.mark.parametrize("figures", FIGURES.values(), ids=FIGURES.keys())
def test_the_figures_are_the_records(figures: str) -> None:
    """The beginning of a line of each table."""
    assert len(lines(page(records()), figures)) == 1


def test_what_is_met_is_said_to_be() -> None:
    """Targets for which nothing was measured are left out."""
    promised = lines(page(records()), "| our server under 150 MiB")
    assert len(promised) == 1
    assert promised[0].endswith(" | met | 10: 95 MiB; 100: 95 MiB; 1,000: 95 MiB |")
    assert "**missed**" not in "".join(lines(page(records()), "| never above the quota"))


def test_a_target_that_one_cell_misses_is_missed() -> None:
    """With the cell, and what was found there."""
    large = growths.record(growths.run(10), growths.run(1000, memory_peak=180.0))
    (promised,) = lines(page(records(growth=large)), "| our server under 150 MiB")
    assert promised.endswith(" | **missed** by 1 of 2 | 10: 95 MiB; 1,000: **180 MiB** |")


def test_readme_has_the_figures_between_its_marks() -> None:
    """What is around them stays as it is."""
    text = renewed(f"before\n{BEGIN}\nold\n{END}\nafter\n", records())
    assert text.startswith(f"before\n{BEGIN}\n\n| 16 TrainJobs on 24 GPUs, at load 0.5 ·")
    assert text.endswith(f"\n{END}\nafter\n")
    assert "| makespan, seconds | 50.0 · 40.0 · 60.0 | 50.0 · 35.0 · 40.0 |" in text
    assert "| Job CREATE by JobSet | 6,000/s, 5.0 ms | 1,500/s, 20.0 ms | 4.0 |" in text
    assert "old" not in text


DAYS: dict[str, tuple[dict[str, Any], str]] = {
    "the same versions": (
        {},
        "2026-01-01 and 2026-01-02, 2 shared cores, Kueue 0.19.2",
    ),
    "others": (
        {"versions": {"Kueue": "0.20.0"}},
        "2026-01-01, 2 shared cores, Kueue 0.19.2; 2026-01-02, 2 shared cores, Kueue 0.20.0",
    ),
}


@pytest.mark.parametrize(("changes", "made"), DAYS.values(), ids=DAYS.keys())
def test_readme_says_what_all_of_its_figures_were_made_with(
    changes: dict[str, Any], made: str
) -> None:
    """Benches are played on different days."""
    create = creates.record(*creates.good())
    environment = replace(create.conditions.environment, date="2026-01-02", **changes)
    create = replace(create, conditions=replace(create.conditions, environment=environment))
    text = renewed(f"{BEGIN}\n{END}\n", records(create=create))
    assert f"\n({made}; medians. Pods" in text


def test_readme_can_be_renewed_again() -> None:
    """The second time changes nothing."""
    once = renewed(f"{BEGIN}\n{END}\n", records())
    assert renewed(once, records()) == once


def test_a_readme_without_marks_is_left_alone() -> None:
    """Better no figures than some in the wrong place."""
    with pytest.raises(ValueError, match="no place for figures"):
        renewed("# A page\n", records())
