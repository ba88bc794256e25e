"""The steps of a parent as rows: order, pods, what a pod asks for, queue, labels."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from webhook.demand.pods import JobSet, Step
from webhook.demand.quantities import written
from webhook.preview.documents import Object
from webhook.preview.nodes import MLPolicy, Nodes, sized
from webhook.rules import names
from webhook.rules.immutable import CARRIED
from webhook.rules.objects import DependsOn, View

ViewT = TypeVar("ViewT", bound=View)


@dataclass(frozen=True, slots=True)
class Row:
    """One step. `order` is 1 for steps that wait for no other; `resources` are those of one pod."""

    name: str
    order: int
    after: tuple[DependsOn, ...]
    pods: int
    resources: dict[str, str]
    queue: str | None
    labels: dict[str, str]


class Misshapen(Exception):
    """The steps are not of the shape that JobSet asks for; the message says where."""


class _TrainJobSpec(View, frozen=True):
    trainer: Nodes | None = None


class _TrainJob(View, frozen=True):
    spec: _TrainJobSpec = _TrainJobSpec()


class _RuntimeSpec(View, frozen=True):
    ml_policy: MLPolicy | None = None


class _Runtime(View, frozen=True):
    spec: _RuntimeSpec = _RuntimeSpec()


def steps_of(jobset: Object) -> list[Step]:
    """The steps of a JobSet. Raises Misshapen."""
    return _seen(jobset, JobSet).spec.replicated_jobs or []


def steps_of_trainjob(trainjob: Object, runtime: Any, jobset: Object) -> list[Step]:
    """The steps of a TrainJob's JobSet, with its nodes as it asks for them. Raises Misshapen."""
    policy = _seen(runtime, _Runtime).spec.ml_policy
    return sized(steps_of(jobset), policy, _seen(trainjob, _TrainJob).spec.trainer)


def rows(steps: Sequence[Step], queue: str | None) -> tuple[Row, ...]:
    """One row for each step; `queue` is that of the whole parent, None where each has its own."""
    orders = _orders(steps)
    return tuple(_row(step, orders[step.name], queue) for step in steps)


def _row(step: Step, order: int, queue: str | None) -> Row:
    try:
        amounts = step.amounts
    except ValueError as error:
        raise Misshapen(f"step {step.name}: {error}") from error
    metadata = step.template.metadata
    carried = {key: metadata.label(key) for key in CARRIED} if metadata else {}
    labels = {key: value for key, value in carried.items() if value is not None}
    return Row(
        name=step.name,
        order=order,
        after=tuple(step.depends_on or ()),
        pods=step.pods,
        resources={key: written(amounts[key]) for key in sorted(amounts)},
        queue=labels.get(names.QUEUE) if queue is None else queue,
        labels=labels,
    )


def _orders(steps: Sequence[Step]) -> dict[str, int]:
    """Each step comes one after the last of those that it waits for (JobSet: earlier ones only)."""
    orders = dict[str, int]()
    for step in steps:
        earlier = [orders.get(edge.name, 0) for edge in step.depends_on or ()]
        orders[step.name] = 1 + max(earlier, default=0)
    return orders


def _seen(content: Any, view: type[ViewT]) -> ViewT:
    try:
        return msgspec.convert(content, view)
    except msgspec.ValidationError as error:
        raise Misshapen(str(error)) from error
