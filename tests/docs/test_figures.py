"""What the pages say of the demo is what its record says, of the run that the picture shows."""

import re
from pathlib import Path

import pytest

from bench.timeline.record import Record, read

ROOT = Path(__file__).parents[2]
RECORD = read(ROOT / "bench" / "results" / "timeline.json")

TABLE = """\
| GPU-seconds reserved | {whole.gpu_seconds_reserved:.1f} | {stepped.gpu_seconds_reserved:.1f} |
| GPU-seconds used | {whole.gpu_seconds_used:.1f} | {stepped.gpu_seconds_used:.1f} |
| GPU-seconds reserved but idle | {whole.gpu_seconds_idle:.1f} | {stepped.gpu_seconds_idle:.1f} |
| of these, before training began | {whole.gpu_seconds_idle_before_training:.1f} \
| {stepped.gpu_seconds_idle_before_training:.1f} |
| makespan, seconds | {whole.makespan_seconds:.1f} | {stepped.makespan_seconds:.1f} |
| webhook reviews per TrainJob | {whole.reviews_per_trainjob:.0f} \
| {stepped.reviews_per_trainjob:.1f} |
| Job writes per TrainJob | {whole.job_writes_per_trainjob:.1f} \
| {stepped.job_writes_per_trainjob:.1f} |
| highest GPU use, of {whole.gpu_quota} | {whole.gpu_peak_used} | {stepped.gpu_peak_used} |
"""
PROBLEM = """\
of {whole.gpu_seconds_reserved:.1f} GPU-seconds reserved, {whole.gpu_seconds_idle:.1f} idle, \
{whole.gpu_seconds_idle_before_training:.1f} of them before training began
of {stepped.gpu_seconds_reserved:.1f} GPU-seconds reserved, {stepped.gpu_seconds_idle:.1f} idle, \
{stepped.gpu_seconds_idle_before_training:.1f} of them before training began
{whole.makespan_seconds:.1f} s against {stepped.makespan_seconds:.1f} s
"""
DESIGN = """\
| {whole.gpu_seconds_reserved:.1f} | {stepped.gpu_seconds_reserved:.1f} |
| of these idle | {whole.gpu_seconds_idle:.1f} | {stepped.gpu_seconds_idle:.1f} |
| of these before training began | {whole.gpu_seconds_idle_before_training:.1f} \
| {stepped.gpu_seconds_idle_before_training:.1f} |
| makespan, seconds | {whole.makespan_seconds:.1f} | {stepped.makespan_seconds:.1f} |
costs {stepped.reviews_per_trainjob:.1f} calls in the demo
{stepped.job_writes_per_trainjob:.1f} writes of Jobs instead of \
{whole.job_writes_per_trainjob:.1f} in the demo
"""
HOW = """\
the demo's three TrainJobs took {stepped.reviews_per_trainjob:.1f} each
"""
FAQ = """\
{stepped.gpu_seconds_idle:.1f} of {stepped.gpu_seconds_reserved:.1f} reserved GPU-seconds
{stepped.gpu_seconds_idle_before_training:.1f} of them
{stepped.reviews_per_trainjob:.1f} reviews per TrainJob of three steps
{stepped.job_writes_per_trainjob:.1f} writes of Jobs instead of
"""
SAID = {
    "README.md": TABLE,
    "docs/index.md": TABLE,
    "docs/concepts/problem.md": PROBLEM,
    "docs/concepts/how-it-works.md": HOW,
    "docs/design.md": DESIGN,
    "docs/faq.md": FAQ,
}


@pytest.mark.parametrize("page", SAID)
def test_the_figures_of_the_demo_are_those_of_its_record(page: str) -> None:
    """Each of them, in the words of its page."""
    text = (ROOT / page).read_text()
    assert [line for line in _filled(SAID[page], RECORD) if line not in text] == []


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_the_run_is_dated(page: str) -> None:
    """Below the table stand the day and the versions of the record."""
    said = re.sub(r"\s+", " ", (ROOT / page).read_text())
    environment = RECORD.environment
    names = ("Kubernetes", "Kueue", "JobSet", "Trainer")
    versions = ", ".join(f"{name} {environment.versions[name]}" for name in names)
    assert f"{environment.date}, {environment.cpus} shared cores, {versions}" in said


def _filled(template: str, record: Record) -> list[str]:
    figures = {"whole": record.whole.figures, "stepped": record.stepped.figures}
    return template.format(**figures).splitlines()
