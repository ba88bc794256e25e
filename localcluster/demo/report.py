"""What the demo ends with: the table, the verdicts, and the same figures for machines."""

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from localcluster.demo.claims import Claim
from localcluster.demo.meter import Figures

ROWS = {
    "gpu_seconds_reserved": "GPU-seconds reserved",
    "gpu_seconds_used": "GPU-seconds really used",
    "gpu_seconds_idle": "GPU-seconds reserved but idle",
    "gpu_seconds_idle_before_training": "  of these before training",
    "makespan_seconds": "makespan, seconds",
    "reviews_per_trainjob": "webhook reviews per TrainJob",
    "job_writes_per_trainjob": "Job writes per TrainJob",
    "gpu_peak_used": "highest GPU use",
    "gpu_quota": "GPU quota",
}


def table(whole: Figures, stepped: Figures) -> Table:
    """Whole beside stepped."""
    made = Table("three TrainJobs")
    made.add_column("whole", justify="right")
    made.add_column("stepped", justify="right")
    left, right = asdict(whole), asdict(stepped)
    for key, label in ROWS.items():
        made.add_row(label, _figure(left[key]), _figure(right[key]))
    return made


def print_claims(console: Console, claims: Iterable[Claim]) -> None:
    """One line each, PASS or FAIL first."""
    for claim in claims:
        word, style = ("PASS", "bold green") if claim.holds else ("FAIL", "bold red")
        console.print(Text.assemble((word, style), "  ", claim.sentence), soft_wrap=True)


def write(path: Path, whole: Figures, stepped: Figures) -> None:
    """The table as JSON."""
    figures = {"whole": asdict(whole), "stepped": asdict(stepped)}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(figures, indent=2) + "\n")


def _figure(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.1f}"
