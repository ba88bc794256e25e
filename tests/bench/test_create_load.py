"""What is sent is the same in both namespaces, in turn, and what came of it is counted once."""

import pytest

from bench import webhooks
from bench.create import objects, plan
from bench.create.load import Answer, Operation
from bench.create.objects import Kind
from bench.create.plan import Arm, Cell, arm
from bench.create.quiet import JAIL, jail
from bench.create.record import figures
from bench.create.session import measurement
from bench.errors import Unmeasured
from bench.webhooks import Calls, Series, since
from webhook.rules.names import QUEUE

METRICS = """\
# TYPE apiserver_admission_webhook_admission_duration_seconds histogram
{m}_bucket{{{ours},rejected="false",type="admit",le="0.005"}} {a}
{m}_bucket{{{ours},rejected="false",type="admit",le="0.025"}} {b}
{m}_bucket{{{ours},rejected="false",type="admit",le="+Inf"}} {b}
{m}_sum{{{ours},rejected="false",type="admit"}} {s}
{m}_count{{{ours},rejected="false",type="admit"}} {b}
{m}_sum{{{ours},rejected="true",type="validating"}} 1e-02
{m}_count{{{ours},rejected="true",type="validating"}} 1
{m}_sum{{name="mjob.kb.io",operation="CREATE",rejected="false",type="admit"}} 9
{m}_count{{name="mjob.kb.io",operation="CREATE",rejected="false",type="admit"}} 900
"""
OURS = 'name="jobs.kueue-steps.io",operation="CREATE"'


def seen(a: int, b: int, s: float) -> webhooks.Seen:
    """What the API server said when it had made so many calls."""
    return webhooks.read(METRICS.format(m=webhooks.METRIC, ours=OURS, a=a, b=b, s=s))


def answer(side: Arm, milliseconds: float, problem: str | None = None) -> Answer:
    """A create, begun at once."""
    return Answer(Operation.CREATE, side, 0.0, milliseconds, problem)


def test_a_client_goes_with_without_without_with() -> None:
    """And the next one the other way round, so that both arms are asked as often at any time."""
    for client, first, second in ((0, Arm.WITH, Arm.WITHOUT), (1, Arm.WITHOUT, Arm.WITH)):
        assert [arm(client, turn) for turn in range(5)] == [first, second, second, first, first]


def test_repeats_go_through_the_cells_forth_and_back() -> None:
    """What drifts with time meets the first and the last cell alike."""
    cells = [Cell(Kind.POD, n, 1.0) for n in (10, 50)]
    order = [(repeat, cell.clients) for repeat, cell in plan.Plan(cells, 2).in_order()]
    assert order == [(0, 10), (0, 50), (1, 50), (1, 10)]


def test_clients_that_take_their_time_are_spread_over_it() -> None:
    """Fifty a second are one every 20 ms."""
    cell = Cell(Kind.POD, 50, 1.0, pace=1.0)
    assert [cell.due(client, 2) for client in (0, 1, 25)] == [2.0, 2.02, 2.5]
    assert Cell(Kind.POD, 50, 1.0).due(25, 2) == 0


@pytest.mark.parametrize("kind", Kind)
def test_both_namespaces_get_the_same_object(kind: Kind) -> None:
    """With a queue if it is ours, without one if it is not."""
    first, second = (objects.sample(kind, name, "a", "uid") for name in ("one", "two"))
    assert (first["metadata"].pop("namespace"), second["metadata"].pop("namespace")) == (
        "one",
        "two",
    )
    assert first == second
    assert (QUEUE in first["metadata"]["labels"]) is kind.is_ours


def test_everything_that_is_sent_can_be_deleted_by_its_label() -> None:
    """And the JobSet that owns the Jobs stays."""
    labels = [objects.sample(kind, "n", "a", "u")["metadata"]["labels"] for kind in Kind]
    assert all(objects.SAMPLE in item for item in labels)
    (parent,) = [item for item in objects.place("n") if item["kind"] == "JobSet"]
    assert parent["metadata"]["labels"] == {}


def test_only_the_controllers_that_answer_webhooks_are_jailed() -> None:
    """The clients and our server write as ever."""
    _, schema = jail()
    (rule,) = schema["spec"]["rules"]
    names = {item["serviceAccount"]["namespace"] for item in rule["subjects"]}
    assert names == {"kueue-system", "jobset-system", "kubeflow-system"}
    assert schema["spec"]["priorityLevelConfiguration"]["name"] == JAIL


def test_calls_are_those_of_our_webhooks_between_two_readings() -> None:
    """Accepted and rejected, mutating and validating, and nobody else's."""
    calls = since(seen(1, 2, 0.02), seen(5, 12, 0.12), webhooks.OURS)
    assert calls.count == 10
    assert calls.seconds == pytest.approx(0.1)
    assert calls.mean_milliseconds == pytest.approx(10)
    assert since(seen(1, 2, 0.02), seen(5, 12, 0.12), webhooks.OURS, "UPDATE").count == 0
    assert since({}, seen(5, 12, 0.12), "mjob.kb.io").count == 900


def test_a_percentile_lies_between_two_bounds_in_proportion() -> None:
    """As Prometheus computes it, and at the last bound for what took longer than that."""
    calls = Calls(100, 1.0, {0.005: 50, 0.025: 90, 0.1: 98, float("inf"): 100})
    assert calls.milliseconds(0.5) == pytest.approx(5)
    assert calls.milliseconds(0.7) == pytest.approx(15)
    assert calls.milliseconds(0.99) == pytest.approx(100)
    assert Calls().milliseconds(0.99) == 0


def test_readings_of_no_webhook_are_empty() -> None:
    """Other metrics are passed over."""
    assert webhooks.read('apiserver_request_total{code="200"} 3\n') == {}
    assert Series("jobs.kueue-steps.io", "CREATE") in seen(1, 1, 0.1)


def test_a_failed_request_has_no_latency() -> None:
    """It is counted, and the figures are of the others."""
    answers = [answer(Arm.WITH, 5.0), answer(Arm.WITHOUT, 3.0), answer(Arm.WITH, 900.0, "500: no")]
    cell = Cell(Kind.POD, 10, 1.0)
    found = measurement(cell, 0, Operation.CREATE, answers, ({}, {}), 0.5)
    assert (found.failed, found.first_problem) == (1, "500: no")
    assert (found.arms[Arm.WITH].requests, found.arms[Arm.WITH].longest) == (1, 5.0)


def test_an_arm_without_answers_is_no_measurement() -> None:
    """Rather than half of one."""
    with pytest.raises(Unmeasured, match="one of the namespaces"):
        measurement(
            Cell(Kind.POD, 10, 1.0),
            0,
            Operation.CREATE,
            [answer(Arm.WITH, 5.0), answer(Arm.WITHOUT, 1.0, "409: again")],
            ({}, {}),
            0.5,
        )


def test_figures_are_milliseconds() -> None:
    """The smallest latency that so many requests do not exceed."""
    found = figures(answer(Arm.WITH, float(n)) for n in range(1, 101))
    assert found is not None
    assert (found.requests, found.p50, found.p90, found.p99, found.longest) == (
        100,
        50,
        90,
        99,
        100,
    )
