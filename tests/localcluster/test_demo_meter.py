"""The demo's figures, from samples whose areas are known."""

import pytest

from localcluster.demo.meter import (
    Figures,
    Sample,
    Writes,
    idle_before_training,
    integral,
    makespan,
    measure,
    total_reserved,
)

# Eight GPUs reserved from 1 s to 9 s, used from 4 s to 8 s, everything over at 10 s.
ONE_TRAINJOB = [
    Sample(100.0, {}, {}),
    Sample(101.0, {"w": 8}, {}),
    Sample(104.0, {"w": 8}, {"w": 8}),
    Sample(108.0, {"w": 8}, {}),
    Sample(109.0, {}, {}),
    Sample(110.0, {}, {}, is_over=True),
    Sample(111.0, {}, {}, is_over=True),
]


def test_all_figures_of_one_trainjob() -> None:
    """Reserved, used, idle, idle before training, makespan and peak, each once."""
    assert measure(ONE_TRAINJOB, Writes(reviews=24, jobs=27, trainjobs=3), quota=8) == Figures(
        gpu_seconds_reserved=64.0,
        gpu_seconds_used=32.0,
        gpu_seconds_idle=32.0,
        gpu_seconds_idle_before_training=24.0,
        makespan_seconds=10.0,
        reviews_per_trainjob=8.0,
        job_writes_per_trainjob=9.0,
        gpu_peak_used=8,
        gpu_quota=8,
    )


def test_a_value_holds_until_the_next_sample() -> None:
    """Uneven intervals count with their own length, and the last sample opens none."""
    samples = [
        Sample(0.0, {"a": 2}, {}),
        Sample(0.5, {"a": 2, "b": 4}, {}),
        Sample(2.5, {"a": 9}, {}),
    ]
    assert integral(samples, total_reserved) == 2 * 0.5 + 6 * 2.0


def test_each_workload_waits_for_its_own_pod() -> None:
    """The pod of one Workload does not end the waiting of another."""
    samples = [
        Sample(0.0, {"a": 4}, {}),
        Sample(1.0, {"a": 4, "b": 2}, {"a": 4}),
        Sample(3.0, {"a": 4, "b": 2}, {"a": 4, "b": 2}),
    ]
    assert idle_before_training(samples) == 4 * 1.0 + 2 * 2.0


def test_time_after_training_is_no_waiting() -> None:
    """A reservation that is kept after the pod has ended is idle, but not before training."""
    samples = [Sample(0.0, {"a": 8}, {"a": 8}), Sample(5.0, {"a": 8}, {}), Sample(9.0, {}, {})]
    assert idle_before_training(samples) == 0


def test_a_workload_that_never_trains_waits_to_the_end() -> None:
    """No pod at all is the longest waiting there is."""
    assert idle_before_training([Sample(1.0, {"a": 8}, {}), Sample(4.0, {}, {})]) == 24.0


def test_pods_that_nobody_admitted_count_as_use() -> None:
    """GPUs that run outside every reservation raise the peak above the quota."""
    samples = [Sample(0.0, {"a": 8}, {"a": 8, "": 8}), Sample(1.0, {}, {})]
    figures = measure(samples, Writes(0, 0, 1), quota=8)
    assert (figures.gpu_peak_used, figures.gpu_seconds_idle) == (16, -8.0)


@pytest.mark.parametrize(("over_from", "seconds"), [(0, 0.0), (2, 4.0), (9, 11.0)])
def test_the_makespan_ends_with_the_last_trainjob(over_from: int, seconds: float) -> None:
    """Samples after the end, while quota is given back, make the makespan no longer."""
    samples = [
        Sample(sample.at, sample.reserved, sample.used, is_over=number >= over_from)
        for number, sample in enumerate(ONE_TRAINJOB)
    ]
    assert makespan(samples) == seconds
