"""A parent that is created with a queue, and what Kueue's objects say about that queue."""

from collections.abc import Sequence
from dataclasses import dataclass

from webhook.rules import kueue, names, parents, queues
from webhook.rules.facts import Facts, Key
from webhook.rules.objects import JobSetSpec, Metadata, ReplicatedJob, steps_of
from webhook.rules.policy import Policy
from webhook.rules.stepping import Parent


@dataclass(frozen=True, slots=True)
class Submission:
    """What was submitted: `spec` is its JobSet's spec, None where that is not known (yet)."""

    metadata: Metadata
    spec: JobSetSpec | None
    namespace: str

    @property
    def steps(self) -> Sequence[ReplicatedJob]:
        """Its steps, as far as they are known."""
        return steps_of(self.spec)

    @property
    def queue(self) -> str:
        """The LocalQueue that it asks for."""
        return parents.queue_of(self.metadata) or ""

    @property
    def queues(self) -> tuple[str, ...]:
        """Every LocalQueue that one of its steps waits in."""
        return queues.all_queues(self.metadata, self.steps, self.queue)

    @property
    def priority(self) -> str | None:
        """The WorkloadPriorityClass that it asks for."""
        return self.metadata.label(names.PRIORITY_CLASS)

    def needs(self, facts: Facts, policy: Policy) -> tuple[Key, ...]:
        """What has to be known of Kueue."""
        return tuple(kueue.needs(self.queues, self.priority, self.namespace, facts, policy))

    def parent(self, framework: str, facts: Facts, policy: Policy) -> Parent:
        """The submission as the decision between step and whole sees it."""
        return Parent(
            metadata=self.metadata,
            framework=framework,
            spec=self.spec,
            kueue=kueue.settings(self.namespace, facts, policy),
            multikueue=kueue.leads_to_multikueue(self.queues, self.namespace, facts),
        )

    def warnings(self, facts: Facts, policy: Policy) -> tuple[str, ...]:
        """What it names that is not there, and what could not be read."""
        return (
            *kueue.unread_warnings(facts, policy),
            *kueue.missing_warnings(self.queues, self.priority, self.namespace, facts),
        )
