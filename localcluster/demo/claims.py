"""What the demo has to show, as sentences that are true or not. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass

from localcluster.demo.meter import Figures
from localcluster.invariants.violation import Violation

MOST_IDLE_BEFORE = 0.05
MOST_IDLE = 0.25
MOST_REVIEWS = 12
# JobSet tries again at each event of the Job: 2 or 3 writes were seen. A fight is dozens a second.
MOST_STARTS = 5


@dataclass(frozen=True)
class Claim:
    """A sentence, with the figures in it, and whether it holds."""

    holds: bool
    sentence: str


def claims(whole: Figures, stepped: Figures, *, most_starts: int) -> list[Claim]:
    """All claims; `most_starts` is how often a held Job was written to start it."""
    return [
        _share(
            "GPUs that wait for the downloads",
            stepped.gpu_seconds_idle_before_training,
            whole.gpu_seconds_idle_before_training,
            MOST_IDLE_BEFORE,
        ),
        _share(
            "GPUs that are reserved but idle at all",
            stepped.gpu_seconds_idle,
            whole.gpu_seconds_idle,
            MOST_IDLE,
        ),
        Claim(
            stepped.makespan_seconds < whole.makespan_seconds,
            f"the same TrainJobs are done in {stepped.makespan_seconds:g} s stepped, "
            f"{whole.makespan_seconds:g} s whole",
        ),
        _within_quota(whole, stepped),
        Claim(
            stepped.reviews_per_trainjob <= MOST_REVIEWS,
            f"a TrainJob of three steps costs {stepped.reviews_per_trainjob:g} webhook reviews "
            f"(at most {MOST_REVIEWS})",
        ),
        Claim(
            most_starts <= MOST_STARTS,
            f"no held Job is written again and again: JobSet tried {most_starts} times at most "
            f"(bound {MOST_STARTS})",
        ),
    ]


def unviolated(violations: Iterable[Violation]) -> list[Claim]:
    """What the invariant watcher found: a failed claim for each violation, or one that holds."""
    found = [Claim(False, item.sentence) for item in violations]
    return found or [
        Claim(
            True,
            "at no moment did a step run without its admission, stay suspended with it, or write "
            "without end",
        )
    ]


def _share(what: str, stepped: float, whole: float, most: float) -> Claim:
    share = f"{stepped / whole:.1%}" if whole else "more"
    return Claim(
        stepped <= most * whole,
        f"{what}: {stepped:g} GPU-seconds stepped, {whole:g} whole, {share} (at most {most:.0%})",
    )


def _within_quota(whole: Figures, stepped: Figures) -> Claim:
    peak = max(whole.gpu_peak_used, stepped.gpu_peak_used)
    return Claim(
        all(figures.gpu_peak_used <= figures.gpu_quota for figures in (whole, stepped)),
        f"GPU use was never above the quota: at most {peak} of {stepped.gpu_quota}",
    )
