"""The table of all checks, and the one walk through it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from webhook.doctor import (
    configuration,
    controllers,
    hold,
    kueue,
    others,
    queues,
    registrations,
    rights,
    server,
    steps,
    trust,
    versions,
)
from webhook.doctor.case import CantTell, Case
from webhook.doctor.findings import Check, Finding, Note, Severity, warning

READ: Final = "Run doctor as somebody who may read it, or look why it can't be read."


@dataclass(frozen=True, slots=True)
class Examination:
    """What looks for trouble, what it looks at, and what to say when there is none."""

    look: Callable[[Case], Iterator[Note]]
    subject: str
    fine: str


CHECKS: Final = {
    Check.CONFIGURATION: Examination(
        configuration.unusable, "configuration", "The server starts with it."
    ),
    Check.KUBERNETES_VERSION: Examination(
        versions.old_kubernetes, "API server", "Its version has all that is needed."
    ),
    Check.KUEUE_VERSION: Examination(versions.old_kueue, "Kueue", "Its version is known to work."),
    Check.KUEUE_API: Examination(versions.no_kueue, "Kueue", "Its kinds are served."),
    Check.JOBSET_API: Examination(versions.no_jobset, "JobSet", "Its kind is served."),
    Check.TRAINER_API: Examination(versions.no_trainer, "Trainer", "Its kinds are served."),
    Check.HOLD_POLICY: Examination(
        hold.incomplete, "in-process-hold", "All of it is installed, or it is not to be had here."
    ),
    Check.REGISTRATION_PRESENT: Examination(registrations.absent, "registrations", "Both exist."),
    Check.REGISTRATION_COMPLETE: Examination(
        registrations.incomplete, "registrations", "They are as this version ships them."
    ),
    Check.REGISTRATION_ORDER: Examination(
        registrations.misordered, "registrations", "Ours comes before Kueue's."
    ),
    Check.REGISTRATION_SCOPE: Examination(
        registrations.wrong_scope, "registrations", "They leave the system's namespaces out."
    ),
    Check.REGISTRATION_TRUST: Examination(
        trust.untrusted, "registrations", "Their caBundle can be used."
    ),
    Check.REGISTRATION_USERS: Examination(
        registrations.wrong_users, "registrations", "They name the configured user of Kueue."
    ),
    Check.CERTIFICATE: Examination(
        trust.bad_certificate, "certificate", "It is valid for the Service."
    ),
    Check.SERVICE_ENDPOINTS: Examination(server.unserved, "Service", "It leads to a ready Pod."),
    Check.SERVER_REPLICAS: Examination(
        server.few_replicas, "Deployment", "Two replicas or more, all ready."
    ),
    Check.DISRUPTION_BUDGET: Examination(
        server.unbudgeted, "Deployment", "A PodDisruptionBudget covers it."
    ),
    Check.SERVER_RIGHTS: Examination(
        rights.missing, "ServiceAccount", "It may do all that the server does."
    ),
    Check.KUEUE_CONFIGURATION: Examination(
        kueue.unread, "Kueue's configuration", "It was found and understood."
    ),
    Check.KUEUE_INTEGRATIONS: Examination(
        kueue.defeating, "Kueue's configuration", "Steps can be admitted; all integrations are on."
    ),
    Check.KUEUE_NAMESPACES: Examination(
        kueue.left_out, "namespaces", "Kueue manages all that were examined."
    ),
    Check.KUEUE_USER: Examination(
        controllers.unknown_kueue, "Kueue", "It writes as the user that is configured."
    ),
    Check.JOBSET_USER: Examination(
        controllers.unknown_jobset, "JobSet", "It writes as the user that is configured."
    ),
    Check.LATER_WEBHOOKS: Examination(
        others.later, "other webhooks", "None changes parents or Jobs after us."
    ),
    Check.POD_WEBHOOKS: Examination(
        others.in_the_way_of_pods, "other webhooks", "Our Pods depend on none."
    ),
    Check.LOCAL_QUEUES: Examination(
        queues.leading_nowhere, "LocalQueues", "All lead to an active ClusterQueue."
    ),
    Check.MULTIKUEUE_QUEUES: Examination(
        queues.leading_to_other_clusters, "LocalQueues", "None leads to another cluster."
    ),
    Check.DEFAULT_QUEUES: Examination(queues.defaults, "LocalQueues", "None is a default."),
    Check.PRIORITY_CLASSES: Examination(
        queues.missing_priorities, "priority classes", "All that are named exist."
    ),
    Check.STARTED_JOBS: Examination(
        steps.started_unadmitted, "steps", "None runs that Kueue has not admitted."
    ),
    Check.HELD_JOBS: Examination(
        steps.held_for_ever, "steps", "Every held Job has a queue that exists."
    ),
    Check.PAUSES: Examination(steps.unsettled_pauses, "steps", "Pauses and Workloads agree."),
}


def examine(case: Case) -> list[Finding]:
    """Every finding, at least one for each check: what can't be told is a finding too."""
    return [Finding(check, note) for check, one in CHECKS.items() for note in _notes(one, case)]


def _notes(examination: Examination, case: Case) -> Iterator[Note]:
    is_fine = True
    try:
        for note in examination.look(case):
            is_fine = False
            yield note
    except CantTell as why:
        is_fine = False
        yield warning(examination.subject, f"Can't tell: {why}.", READ)
    if is_fine:
        yield Note(Severity.OK, examination.subject, examination.fine)
