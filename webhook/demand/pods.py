"""Steps, their pods and what those ask for: fields that no rule reads, so no view of theirs has."""

from webhook.demand.quantities import Amounts, Quantity, added, amount, greatest
from webhook.rules import names
from webhook.rules.objects import DependsOn, Metadata, View


class Resources(View, frozen=True):
    """ResourceRequirements."""

    requests: dict[str, Quantity] | None = None
    limits: dict[str, Quantity] | None = None

    @property
    def amounts(self) -> Amounts:
        """What is asked for; a limit without a request is one."""
        asked = {**(self.limits or {}), **(self.requests or {})}
        return {key: amount(value) for key, value in asked.items()}


class Container(View, frozen=True):
    """Container of a pod."""

    name: str = ""
    resources: Resources | None = None
    restart_policy: str | None = None

    @property
    def amounts(self) -> Amounts:
        """What it asks for."""
        return self.resources.amounts if self.resources else {}


class PodSpec(View, frozen=True):
    """PodSpec, as far as it costs something."""

    containers: list[Container] | None = None
    init_containers: list[Container] | None = None
    overhead: dict[str, Quantity] | None = None
    resources: Resources | None = None

    @property
    def amounts(self) -> Amounts:
        """What a pod asks for (PodRequests, k8s.io/component-helpers/resource)."""
        running, starting, sidecars = Amounts(), Amounts(), Amounts()
        for container in self.containers or ():
            running = added(running, container.amounts)
        for container in self.init_containers or ():
            asked = added(sidecars, container.amounts)
            starting = greatest(starting, asked)
            sidecars = asked if container.restart_policy == "Always" else sidecars
        asked = greatest(added(running, sidecars), starting)
        whole = self.resources.amounts if self.resources else {}
        extra = {key: amount(value) for key, value in (self.overhead or {}).items()}
        return added({**asked, **whole}, extra)


class PodTemplate(View, frozen=True):
    """PodTemplateSpec."""

    spec: PodSpec | None = None


class JobSpec(View, frozen=True):
    """JobSpec, as far as it says how many pods there are."""

    parallelism: int | None = None
    completions: int | None = None
    template: PodTemplate = PodTemplate()

    @property
    def pods(self) -> int:
        """How many pods run at the same time (podsCount, Kueue's JobSet integration in v0.19.2)."""
        parallel = 1 if self.parallelism is None else self.parallelism
        return parallel if self.completions is None else min(parallel, self.completions)

    @property
    def amounts(self) -> Amounts:
        """What one of its pods asks for; ValueError where a quantity is none."""
        pod = self.template.spec
        return pod.amounts if pod else {}


class JobTemplate(View, frozen=True):
    """JobTemplateSpec."""

    metadata: Metadata | None = None
    spec: JobSpec = JobSpec()


class Step(View, frozen=True):
    """One replicatedJob."""

    name: str = ""
    replicas: int | None = 1
    depends_on: list[DependsOn] | None = None
    template: JobTemplate = JobTemplate()

    @property
    def ancestor(self) -> str | None:
        """What Trainer knows this step as."""
        metadata = self.template.metadata
        return metadata.label(names.TRAINJOB_STEP) if metadata else None

    @property
    def pods(self) -> int:
        """How many pods run at the same time."""
        return (1 if self.replicas is None else self.replicas) * self.template.spec.pods

    @property
    def amounts(self) -> Amounts:
        """What one of its pods asks for; ValueError where a quantity is none."""
        return self.template.spec.amounts


class JobSetSpec(View, frozen=True):
    """JobSet spec."""

    replicated_jobs: list[Step] | None = None


class JobSet(View, frozen=True):
    """JobSet."""

    spec: JobSetSpec = JobSetSpec()
