"""docs/reference/labels.md: each label and annotation that `webhook.rules.names` knows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from docsite.tables import code, page
from webhook.rules import names
from webhook.rules.labels import MAX_SECONDS
from webhook.rules.policy import Mode


@dataclass(frozen=True, slots=True)
class Key:
    """What is to be said of one label or annotation, in Markdown."""

    what: str
    on: str
    by: str
    values: str
    does: str


INTRODUCTION: Final = """\
What kueue-steps writes and reads on objects. Those under `kueue-steps.io/` are public contract. A
*parent* is a TrainJob, or a JobSet that no TrainJob owns; which parents are stepped is told in
[step or whole](../concepts/step-or-whole.md). Any other key under `kueue-steps.io/` on a new parent
has no effect, and its user is warned.
"""

OURS: Final[Mapping[str, Key]] = {
    names.STEP_QUEUE: Key(
        "label",
        "parents, JobSets, templates of steps, and Jobs",
        "kueue-steps, at creation; a manifest may carry it in place of Kueue's label",
        "name of a LocalQueue",
        "Marks what is stepped. On a parent it is the queue of every step that has none of its "
        "own, on a template or a Job the queue of that step. Put back when an update changes it or "
        "takes it off.",
    ),
    names.MODE: Key(
        "annotation",
        "parents",
        "users",
        code(*Mode),
        "Whether a parent is admitted in steps or as a whole. Counts at creation only, and not at "
        "all where `mode.allowOverride` of the [configuration](configuration.md) is false.",
    ),
    names.STEP_QUEUES: Key(
        "annotation",
        "parents",
        "users",
        '`STEP=QUEUE,STEP=QUEUE`, such as `"dataset-initializer=cpu,model-initializer=cpu"`',
        "Queues of single steps. Wins over the queue that a step's own template names, and that "
        "one over the parent's. Counts at creation only; a step that there is not is refused.",
    ),
    names.SUBMITTED_SUSPENDED: Key(
        "annotation",
        "parents",
        "kueue-steps, at creation",
        code("true"),
        "The manifest itself said `spec.suspend: true`. So a later `suspend: true` that brings the "
        "queue label along is the same manifest again, and not a "
        "[pause](../concepts/pause-and-outages.md).",
    ),
    names.PAUSED: Key(
        "annotation",
        "Jobs of stepped JobSets and on their Workloads",
        "kueue-steps: on a Job when JobSet suspends it, on its Workload when that is made inactive",
        code("true"),
        "On a Job: Kueue's starts are held; taken off when JobSet tries to start the Job. On a "
        "Workload: `spec.active: false` is ours, so only this one is made active again.",
    ),
}

THEIRS: Final[Mapping[str, Key]] = {
    names.QUEUE: Key(
        "label",
        "parents, templates of steps, and Jobs",
        "users, or Kueue where there is a LocalQueue `default`; on templates and Jobs kueue-steps",
        "name of a LocalQueue",
        "On a new parent it asks for admission. A stepped parent loses it, and each of its steps "
        "gets it; a parent that is left whole keeps it. As an annotation it is no queue, and "
        "warned about.",
    ),
    names.PRIORITY_CLASS: Key(
        "label",
        "parents and templates of steps",
        "users",
        "name of a WorkloadPriorityClass",
        "Stays on the parent and goes to every step that has none of its own.",
    ),
    names.MAX_EXEC_TIME: Key(
        "label",
        "parents and templates of steps",
        "users",
        f"whole seconds, 1 to {MAX_SECONDS}",
        "Stays on the parent and goes to every step that has none of its own. Kueue counts it for "
        "each step.",
    ),
    names.PREBUILT_WORKLOAD: Key(
        "label or annotation",
        "parents and Jobs",
        "users or MultiKueue",
        "name of a Workload",
        "What carries it at creation is left alone: it brings its own Workload along. A JobSet of "
        "a TrainJob follows the TrainJob all the same.",
    ),
    names.PODSET_GROUP: Key(
        "annotation",
        "pod templates of steps",
        "users",
        "any",
        "Kueue places these steps together, which takes one Workload: `auto` leaves it whole.",
    ),
    names.JOB_UID: Key(
        "label",
        "Workloads",
        "Kueue",
        "uid of the Job",
        "How the Workload of a Job is found, to pause it and to show what it waits for.",
    ),
    names.JOBSET_NAME: Key(
        "label",
        "Jobs",
        "JobSet",
        "name of the JobSet",
        "By it `kueue-steps steps` reads the Jobs of JobSets alone.",
    ),
    names.REPLICATED_JOB: Key(
        "label",
        "Jobs",
        "JobSet",
        "name of a step",
        "Which step a Job is, for events and for `kueue-steps steps`.",
    ),
    names.TRAINJOB_STEP: Key(
        "label",
        "templates of steps in runtimes",
        "who writes the runtime",
        f"{code(*sorted(names.INITIALIZERS), 'trainer')}",
        "Initializers may run beside each other in a parent that is stepped; the trainer's step "
        "has the TrainJob's number of nodes.",
    ),
    names.NAMESPACE_NAME: Key(
        "label",
        "namespaces",
        "API servers",
        "name of the namespace",
        "By it the registrations leave out the system's namespaces, and Kueue may choose those "
        "that it manages.",
    ),
}


def markdown() -> str:
    """The page."""
    return page(
        "Labels and annotations",
        "docsite/labels.py",
        INTRODUCTION,
        "## Of kueue-steps",
        _entries(OURS),
        "## Of others, as far as kueue-steps reads them",
        _entries(THEIRS),
    )


def _entries(keys: Mapping[str, Key]) -> str:
    return "\n\n".join(
        f"### {code(key)}\n\n"
        f"{said.what.capitalize()} on {said.on}. Set by {said.by}. Values: {said.values}.\n\n"
        f"{said.does}"
        for key, said in keys.items()
    )
