"""How many nodes a TrainJob has and what they ask for: the part of Trainer's work that shows here.

Trainer does more when it makes the JobSet (pkg/runtime/core/trainingruntime.go and the mpi plugin
in v2.3.0); runtimePatches, above all, are not put in.
"""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from webhook.demand.pods import Container, PodTemplate, Resources, Step
from webhook.rules.objects import View

TRAINER: Final = "trainer"
NODE: Final = "node"
"""What Trainer calls the container, and MPI's step, that its nodes run."""


class MPI(View, frozen=True):
    """MLPolicy, mpi."""

    run_launcher_as_node: bool | None = None


class MLPolicy(View, frozen=True):
    """The runtime's part in how many nodes there are."""

    num_nodes: int | None = None
    mpi: MPI | None = None


class Nodes(View, frozen=True):
    """TrainJob spec.trainer: the user's part in it."""

    num_nodes: int | None = None
    resources_per_node: Resources | None = None


def sized(steps: Sequence[Step], policy: MLPolicy | None, nodes: Nodes | None) -> list[Step]:
    """The steps of a runtime as a TrainJob asks for them."""
    return [_sized(step, policy or MLPolicy(), nodes or Nodes()) for step in steps]


def _sized(step: Step, policy: MLPolicy, nodes: Nodes) -> Step:
    if step.ancestor:
        step = replace(step, replicas=1)
    job, launches = step.template.spec, bool(policy.mpi and policy.mpi.run_launcher_as_node)
    if (count := _count(step, policy, nodes)) is not None:
        job = replace(job, parallelism=count, completions=count)
    pod = job.template.spec
    if pod and (step.ancestor == TRAINER or (launches and step.name == NODE)):
        containers = [_asking(one, nodes.resources_per_node) for one in pod.containers or ()]
        job = replace(job, template=PodTemplate(replace(pod, containers=containers)))
    return replace(step, template=replace(step.template, spec=job))


def _count(step: Step, policy: MLPolicy, nodes: Nodes) -> int | None:
    if policy.mpi is not None and step.name == NODE and nodes.num_nodes is not None:
        launcher = 1 if policy.mpi.run_launcher_as_node else 0
        return max(nodes.num_nodes - launcher, 1)
    if step.ancestor != TRAINER:
        return None
    return policy.num_nodes if policy.mpi is not None else nodes.num_nodes or policy.num_nodes


def _asking(container: Container, asked: Resources | None) -> Container:
    if container.name != NODE or asked is None:
        return container
    own = container.resources or Resources()
    merged = Resources(
        {**(own.requests or {}), **(asked.requests or {})},
        {**(own.limits or {}), **(asked.limits or {})},
    )
    return replace(container, resources=merged)
