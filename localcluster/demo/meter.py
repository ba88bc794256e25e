"""From samples to figures. Pure arithmetic.

A sample's values hold until the next sample. A change is so noticed up to one interval late, at the
beginning of a span as at its end: that cancels out over many spans.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True)
class Sample:
    """GPUs by Workload at one moment; `at` is monotonic, in seconds.

    `used` may count pods under a name that is in no `reserved`: those that nobody admitted.
    `is_over`: every TrainJob is complete.
    """

    at: float
    reserved: Mapping[str, int]
    used: Mapping[str, int]
    is_over: bool = False


@dataclass(frozen=True)
class Writes:
    """How often the API server was written to, and asked us, for the TrainJobs of a play."""

    reviews: int
    jobs: int
    trainjobs: int


@dataclass(frozen=True)
class Figures:
    """What one play came to. The field names are the report's keys."""

    gpu_seconds_reserved: float
    gpu_seconds_used: float
    gpu_seconds_idle: float
    gpu_seconds_idle_before_training: float
    makespan_seconds: float
    reviews_per_trainjob: float
    job_writes_per_trainjob: float
    gpu_peak_used: int
    gpu_quota: int


def measure(samples: Sequence[Sample], writes: Writes, *, quota: int) -> Figures:
    """Figures of one play; the first sample is the moment of the submission."""
    reserved = integral(samples, total_reserved)
    used = integral(samples, total_used)
    return Figures(
        gpu_seconds_reserved=round(reserved, 1),
        gpu_seconds_used=round(used, 1),
        gpu_seconds_idle=round(reserved - used, 1),
        gpu_seconds_idle_before_training=round(idle_before_training(samples), 1),
        makespan_seconds=round(makespan(samples), 1),
        reviews_per_trainjob=round(writes.reviews / writes.trainjobs, 1),
        job_writes_per_trainjob=round(writes.jobs / writes.trainjobs, 1),
        gpu_peak_used=max(map(total_used, samples)),
        gpu_quota=quota,
    )


def integral(samples: Iterable[Sample], value: Callable[[Sample], float]) -> float:
    """The area under `value` over time."""
    return sum(value(sample) * (later.at - sample.at) for sample, later in pairwise(samples))


def total_reserved(sample: Sample) -> int:
    """The GPUs that are reserved, by whomever."""
    return sum(sample.reserved.values())


def total_used(sample: Sample) -> int:
    """The GPUs of running pods, whether anybody admitted them or not."""
    return sum(sample.used.values())


def idle_before_training(samples: Sequence[Sample]) -> float:
    """GPU-seconds from each Workload's reservation to its first running GPU pod."""
    workloads = {name for sample in samples for name in sample.reserved}
    return sum(_wait(samples, name) for name in sorted(workloads))


def makespan(samples: Sequence[Sample]) -> float:
    """Seconds from the submission to the first sample in which every TrainJob is complete."""
    end = next((sample.at for sample in samples if sample.is_over), samples[-1].at)
    return end - samples[0].at


def _wait(samples: Sequence[Sample], workload: str) -> float:
    reserved = next(sample for sample in samples if workload in sample.reserved)
    trained = (sample.at for sample in samples if sample.used.get(workload))
    until = next(trained, samples[-1].at)
    return reserved.reserved[workload] * max(0.0, until - reserved.at)
