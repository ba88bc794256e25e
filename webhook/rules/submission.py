"""A parent that is created with a queue, and what Kueue's objects say about that queue."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Final

from webhook.rules import kueue, labels, names, parents, queues
from webhook.rules.facts import Facts, Key
from webhook.rules.objects import JobSetSpec, Metadata, ReplicatedJob, steps_of
from webhook.rules.policy import Policy
from webhook.rules.stepping import Parent

MOST_CLASSES: Final = 5
"""So many priority classes are looked up before the answer: they are only warned of, and a review
with 30 queues, their ClusterQueues and checks is near the most that it may read."""


@dataclass(frozen=True)
class Submission:
    """What was submitted: `spec` is its JobSet's spec, None where that is not known (yet)."""

    metadata: Metadata
    spec: JobSetSpec | None
    namespace: str

    @property
    def steps(self) -> Sequence[ReplicatedJob]:
        """Its steps, as far as they are known."""
        return steps_of(self.spec)

    @cached_property
    def queue(self) -> str:
        """The LocalQueue that it asks for."""
        return parents.queue_of(self.metadata) or ""

    @cached_property
    def queues(self) -> tuple[str, ...]:
        """Every LocalQueue that one of its steps waits in."""
        return queues.all_queues(self.metadata, self.steps, self.queue)

    @cached_property
    def priorities(self) -> tuple[str, ...]:
        """The WorkloadPriorityClasses that it and its steps ask for."""
        own = [step.metadata.label(names.PRIORITY_CLASS) for step in self.steps]
        asked = dict.fromkeys([*self._priority, *own])
        return tuple(islice(filter(None, asked), MOST_CLASSES))

    @property
    def _priority(self) -> tuple[str, ...]:
        """Its own class: all that counts where it stays whole."""
        name = self.metadata.label(names.PRIORITY_CLASS)
        return (name,) if name else ()

    def needs(self, facts: Facts, policy: Policy, *, is_warned_of: bool = True) -> tuple[Key, ...]:
        """What has to be known of Kueue; priority classes only where a user is warned of them."""
        priorities = self.priorities if is_warned_of else ()
        return tuple(kueue.needs(self.queues, priorities, self.namespace, facts, policy))

    def parent(self, framework: str, facts: Facts, policy: Policy) -> Parent:
        """The submission as the decision between step and whole sees it."""
        leads_away = kueue.leads_to_multikueue(self.queues, self.namespace, facts)
        is_unread = kueue.may_be_unmanaged(self.namespace, facts, policy)
        return Parent(
            metadata=self.metadata,
            framework=framework,
            spec=self.spec,
            kueue=kueue.settings(self.namespace, facts, policy),
            multikueue=None if is_unread else leads_away,
        )

    def warnings(self, facts: Facts, policy: Policy, *, is_stepped: bool) -> tuple[str, ...]:
        """What it names that nobody knows or that is not there, and what could not be read."""
        waits_in = self.queues if is_stepped else (self.queue,)
        priorities = self.priorities if is_stepped else self._priority
        return (
            *labels.unknown_warnings(self.metadata),
            *kueue.unread_warnings(facts, policy),
            *kueue.missing_warnings(waits_in, priorities, self.namespace, facts),
        )
