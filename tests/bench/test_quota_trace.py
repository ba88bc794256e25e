"""What is submitted is the same in every mode, and as much as the load says."""

from collections import Counter

import pytest

from bench.quota import plan
from bench.quota.objects import surroundings, trainjob
from bench.quota.plan import QUICK, Mode, Plan, Play
from bench.quota.trace import SORTS, TENANTS, Planned, Shape, Sort, removable, share, span, trace
from localcluster.demo.trace import GPU
from localcluster.manifests import Object
from webhook.rules.names import MODE, QUEUE, STEP_QUEUES

MANY = trace(200, seed=3)
RATES = {0.5: 2.0, 1.0: 1.0, 1.3: 1 / 1.3}
"""By load: the time in which all arrive, by the time that the quota needs for training."""


def entry(shape: Shape) -> Planned:
    """The first of this shape."""
    return next(item for item in MANY if item.shape is shape)


def runtime(item: Planned) -> list[Object]:
    """The steps of its runtime."""
    play = Play(0.9, Mode.WHOLE, 0)
    *_, made = surroundings(play, [item])
    steps: list[Object] = made["spec"]["template"]["spec"]["replicatedJobs"]
    return steps


def test_a_seed_is_a_trace() -> None:
    """The same one gives the same, another one another."""
    assert trace(16, seed=3) == trace(16, seed=3)
    assert trace(16, seed=3) != trace(16, seed=4)


def test_weights_are_all_of_it() -> None:
    """And sorts have different names."""
    assert sum(sort.weight for sort in SORTS) == pytest.approx(1.0)
    assert len({sort.name for sort in SORTS}) == len(SORTS)


def test_the_mixture_is_that_of_the_weights() -> None:
    """To the TrainJob, and not by luck."""
    found = Counter(item.sort for item in MANY)
    assert found == {sort.name: round(200 * sort.weight) for sort in SORTS}
    assert sum(item.fails for item in MANY) == 10
    assert {item.tenant for item in MANY} == set(TENANTS)


@pytest.mark.parametrize("sort", SORTS, ids=lambda sort: sort.name)
def test_initializers_take_their_share(sort: Sort) -> None:
    """Of the whole time, as the sort bounds it; those that fail in the middle of training aside."""
    low, high = sort.shares
    for item in MANY:
        if item.sort == sort.name and not item.fails:
            found = item.initializes / (item.initializes + item.trains)
            assert low - 0.001 <= found <= high + 0.001
            assert item.gpus == sort.gpus


def test_arrivals_are_in_order_and_in_time() -> None:
    """The first at once, all before the end."""
    dues = [item.due for item in MANY]
    assert dues == sorted(dues)
    assert dues[0] == 0
    assert dues[-1] < 1


@pytest.mark.parametrize("load", RATES)
def test_a_load_is_gpu_seconds_by_time(load: float) -> None:
    """Of training alone, so that it is the same in every mode."""
    needed = sum(item.gpus * item.trains for item in MANY) / 24
    assert span(MANY, load, 24) == pytest.approx(RATES[load] * needed)


def test_only_what_can_be_stepped_is_removable() -> None:
    """A gang's downloads stay whole, and training alone has none."""
    assert removable([entry(Shape.GANG), entry(Shape.SINGLE)]) == 0
    item = entry(Shape.STEPS)
    assert removable([item]) == pytest.approx(item.gpus * item.initializes)
    assert share([item]) == pytest.approx(item.initializes / (item.initializes + item.trains))


def test_modes_differ_by_annotations_only() -> None:
    """The same TrainJob, and the same queue's label."""
    item = entry(Shape.STEPS)
    made = {mode: trainjob(Play(0.9, mode, 0), item) for mode in Mode}
    annotations = {mode: one["metadata"].pop("annotations") for mode, one in made.items()}
    for one in made.values():
        del one["metadata"]["namespace"]
    assert made[Mode.WHOLE] == made[Mode.STEPPED] == made[Mode.CPU]
    assert made[Mode.WHOLE]["metadata"]["labels"] == {QUEUE: item.tenant}
    assert [annotations[mode][MODE] for mode in Mode] == ["whole", "auto", "auto"]
    assert [STEP_QUEUES in annotations[mode] for mode in Mode] == [False, False, True]


def test_a_step_that_is_not_there_gets_no_queue() -> None:
    """Our webhook would refuse it."""
    made = trainjob(Play(0.9, Mode.CPU, 0), entry(Shape.SINGLE))
    assert STEP_QUEUES not in made["metadata"]["annotations"]


def test_a_runtime_is_of_its_shape() -> None:
    """The GPUs are the training's; a gang waits for pods that are ready."""
    names = {shape: [step["name"] for step in runtime(entry(shape))] for shape in Shape}
    downloads = ["dataset-initializer", "model-initializer"]
    assert names == {
        Shape.STEPS: [*downloads, "node"],
        Shape.GANG: [*downloads, "node", "launcher"],
        Shape.SINGLE: ["node"],
    }
    *_, launcher = runtime(entry(Shape.GANG))
    assert launcher["dependsOn"] == [{"name": "node", "status": "Ready"}]


def test_tenants_share_the_quota() -> None:
    """Three ClusterQueues in one cohort; the queue for CPUs is outside and has no GPUs."""
    made = surroundings(Play(0.9, Mode.CPU, 1), [])
    queues = [item["spec"] for item in made if item["kind"] == "ClusterQueue"]
    quotas = [
        {r["name"]: r["nominalQuota"] for r in spec["resourceGroups"][0]["flavors"][0]["resources"]}
        for spec in queues
    ]
    assert sum(quota.get(GPU, 0) for quota in quotas) == plan.QUOTA
    assert [spec.get("cohortName") for spec in queues] == ["quota-90-cpu-1"] * 3 + [None]


def test_modes_take_turns() -> None:
    """A B C, then C B A, in a namespace each."""
    plays = list(Plan(loads=(0.9,), repeats=2).plays)
    modes = [play.mode for play in plays]
    assert modes == [*Mode, *reversed(Mode)]
    assert len({play.namespace for play in plays}) == 6


def test_the_usual_plan_has_two_and_twenty_minutes() -> None:
    """Of the forty that all benches have; a quick one has two and a half."""
    assert Plan().seconds / 60 == pytest.approx(22, abs=1.5)
    assert QUICK.seconds < 150
