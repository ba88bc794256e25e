"""Harm in what users have made: queues, Jobs and their Workloads; one thing each."""

from tests.doctor import patient as clinic
from tests.doctor.patient import TEAM, Break, Expected, Patient
from webhook.doctor import questions
from webhook.doctor.findings import Check, Severity
from webhook.rules import names

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO
QUEUES = questions.local_queues("")
JOBS = questions.jobs("")
WORKLOADS = questions.workloads("")


def _default_queue(patient: Patient) -> None:
    patient.items(QUEUES).append(
        {**clinic.named("default", TEAM), "spec": {"clusterQueue": "gpus"}}
    )


def _to_multikueue(patient: Patient) -> None:
    check = {**clinic.named("remote"), "spec": {"controllerName": names.MULTIKUEUE}}
    patient.items(questions.ADMISSION_CHECKS).append(check)
    strategy = {"admissionChecks": [{"name": "remote"}]}
    patient.items(questions.CLUSTER_QUEUES)[0]["spec"] = {"admissionChecksStrategy": strategy}


def _inactive(patient: Patient) -> None:
    condition = {"type": "Active", "status": "False", "message": "a flavor is missing"}
    patient.items(questions.CLUSTER_QUEUES)[0]["status"] = {"conditions": [condition]}


USERS: dict[str, tuple[Break, list[Expected]]] = {
    "a LocalQueue to nowhere": (
        lambda p: p.items(QUEUES)[0]["spec"].update(clusterQueue="none"),
        [(Check.LOCAL_QUEUES, WARNING, "ClusterQueue none, which does not exist")],
    ),
    "a LocalQueue to a queue that takes nothing": (
        _inactive,
        [(Check.LOCAL_QUEUES, WARNING, "not active: a flavor is missing")],
    ),
    "a LocalQueue to other clusters": (
        _to_multikueue,
        [(Check.MULTIKUEUE_QUEUES, INFO, "stay whole")],
    ),
    "a default LocalQueue": (
        _default_queue,
        [(Check.DEFAULT_QUEUES, INFO, "without a queue label are queued too")],
    ),
    "a priority class that is not there": (
        lambda p: p.items(questions.PRIORITY_CLASSES).clear(),
        [(Check.PRIORITY_CLASSES, WARNING, "WorkloadPriorityClass low")] * 2,
    ),
    "a Job that runs without a Workload": (
        lambda p: p.add(JOBS, clinic.job("thief", suspend=False)),
        [(Check.STARTED_JOBS, ERROR, "Kueue has not admitted it")],
    ),
    "a Job that runs while its Workload waits": (
        lambda p: (
            p.add(JOBS, clinic.job("thief", suspend=False)),
            p.add(WORKLOADS, clinic.workload("thief", "QuotaReserved")),
        ),
        [(Check.STARTED_JOBS, ERROR, "Kueue has not admitted it")],
    ),
    "an elastic Job of two Workloads, one of them admitted": (
        lambda p: p.add(JOBS, clinic.job("elastic", suspend=False)).add(
            WORKLOADS, clinic.workload("elastic", "Admitted"), clinic.workload("elastic")
        ),
        [],
    ),
    "a Job that is about to stop, its Workload evicted": (
        lambda p: (
            p.add(JOBS, clinic.job("evicted", suspend=False)),
            p.add(WORKLOADS, clinic.workload("evicted", "Evicted")),
        ),
        [],
    ),
    "a Job that runs while it is being deleted": (
        lambda p: p.add(
            JOBS, clinic.job("gone", suspend=False, deletionTimestamp="2026-11-30T00:00:00Z")
        ),
        [],
    ),
    "a held Job whose queue is gone": (
        lambda p: p.add(JOBS, clinic.job("lost", suspend=True, queue="gone")),
        [(Check.HELD_JOBS, ERROR, "LocalQueue gone does not exist")],
    ),
    "a held Job without a queue": (
        lambda p: p.add(JOBS, clinic.job("lost", suspend=True, queue=None)),
        [(Check.HELD_JOBS, ERROR, "it has no queue")],
    ),
    "a pause that has not reached the Workload": (
        lambda p: (
            p.add(JOBS, clinic.job("slow", suspend=True, annotations={names.PAUSED: ""})),
            p.add(WORKLOADS, clinic.workload("slow", "Admitted")),
        ),
        [(Check.PAUSES, WARNING, "is paused, but it still holds its place")],
    ),
    "a pause that has not left the Workload": (
        lambda p: (
            p.add(JOBS, clinic.job("slow", suspend=True)),
            p.add(WORKLOADS, clinic.workload("slow", active=False, annotations={names.PAUSED: ""})),
        ),
        [(Check.PAUSES, WARNING, "is not paused, but it is kept inactive")],
    ),
    "a Workload that a person made inactive": (
        lambda p: (
            p.add(JOBS, clinic.job("stopped", suspend=True)),
            p.add(WORKLOADS, clinic.workload("stopped", active=False)),
        ),
        [],
    ),
}
