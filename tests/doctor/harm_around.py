"""Harm around the installation: the API server, the controllers, what users have made."""

from dataclasses import replace
from typing import Any

from tests.doctor import patient as clinic
from tests.doctor.patient import PLACE, TEAM, Break, Expected, Patient
from webhook.cluster.survey import VERSION
from webhook.doctor import questions
from webhook.doctor.findings import Check, Severity
from webhook.rules import names
from webhook.rules.policy import Kueue

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO
MUTATING, VALIDATING = questions.MUTATING, questions.VALIDATING
QUEUES = questions.local_queues("")
JOBS = questions.jobs("")
WORKLOADS = questions.workloads("")


def _container(patient: Patient) -> Any:
    (deployment,) = patient.items(clinic.KUEUE_DEPLOYMENTS)
    return deployment["spec"]["template"]["spec"]["containers"][0]


def _account(patient: Patient, question: Any, name: str) -> None:
    (deployment,) = patient.items(question)
    deployment["spec"]["template"]["spec"]["serviceAccountName"] = name


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


def _unselected(patient: Patient) -> None:
    patient.configure_kueue(managedJobsNamespaceSelector={"matchLabels": {"queued": "yes"}})


def _unselected_without_queues(patient: Patient) -> None:
    _unselected(patient)
    patient.items(QUEUES).clear()
    patient.items(JOBS).clear()


def _without_policies(patient: Patient) -> None:
    patient.absent.add(questions.hold_policy(PLACE))
    patient.content[questions.REGISTRATION_API]["resources"].clear()


def _later(patient: Patient, **parts: Any) -> None:
    other = clinic.configuration("z-other", clinic.hook("z.example", "batch", "jobs", **parts))
    patient.items(MUTATING).append(other)


def _pods(patient: Patient, **parts: Any) -> None:
    other = clinic.configuration("policies", clinic.hook("pods.example", "", "*", **parts))
    patient.items(VALIDATING).append(other)


NEIGHBOURS: dict[str, tuple[Break, list[Expected]]] = {
    "an old Kubernetes": (
        lambda p: p.content[VERSION].update(gitVersion="v1.29.4-eks-1"),
        [(Check.KUBERNETES_VERSION, ERROR, "v1.29.4-eks-1 lacks")],
    ),
    "a Kubernetes without a version": (
        lambda p: p.content[VERSION].clear(),
        [(Check.KUBERNETES_VERSION, INFO, "Can't tell its version")],
    ),
    "an old Kueue": (
        lambda p: _container(p).update(image="kueue:v0.18.9"),
        [(Check.KUEUE_VERSION, WARNING, "v0.18.9 is older")],
    ),
    "a Kueue of no known version": (
        lambda p: _container(p).update(image="kueue@sha256:1f"),
        [(Check.KUEUE_VERSION, INFO, "Can't tell Kueue's version")],
    ),
    "a Kueue that does not serve Workloads as we read them": (
        lambda p: p.absent.add(questions.KUEUE_API),
        [(Check.KUEUE_API, ERROR, "does not serve workloads")],
    ),
    "no JobSet": (
        lambda p: p.absent.add(questions.JOBSET_API),
        [(Check.JOBSET_API, ERROR, "does not serve jobsets")],
    ),
    "no Trainer": (
        lambda p: p.absent.add(questions.TRAINER_API),
        [(Check.TRAINER_API, INFO, "only JobSets can be stepped")],
    ),
    "policies could hold Jobs, but don't": (
        lambda p: p.absent.add(questions.hold_policy(PLACE)),
        [(Check.HOLD_POLICY, INFO, "It is not installed")],
    ),
    "an API server without such policies": (
        _without_policies,
        [],
    ),
    "C16: batch/job is off": (
        lambda p: p.configure_kueue(frameworks=[names.JOBSET_FRAMEWORK, names.TRAINJOB_FRAMEWORK]),
        [(Check.KUEUE_INTEGRATIONS, ERROR, "nothing can be stepped")],
    ),
    "C16: Kueue manages what has no queue": (
        lambda p: p.configure_kueue(manageJobsWithoutQueueName=True),
        [(Check.KUEUE_INTEGRATIONS, ERROR, "Kueue takes every parent whole")],
    ),
    "Kueue manages what has no queue, and no parents": (
        lambda p: p.configure_kueue(
            manageJobsWithoutQueueName=True, frameworks=[names.JOB_FRAMEWORK]
        ),
        [(Check.KUEUE_INTEGRATIONS, INFO, "is off")] * 2,
    ),
    "C16: the team's namespace is not managed": (
        _unselected,
        [(Check.KUEUE_NAMESPACES, WARNING, "nothing in it is queued")],
    ),
    "namespaces without queues are not managed": (
        _unselected_without_queues,
        [(Check.KUEUE_NAMESPACES, INFO, "leaves out team-a")],
    ),
    "no configuration of Kueue": (
        lambda p: p.absent.add(clinic.KUEUE_CONFIGURATION),
        [(Check.KUEUE_CONFIGURATION, WARNING, "does not exist")],
    ),
    "a configuration of Kueue that is none": (
        lambda p: p.content.update({clinic.KUEUE_CONFIGURATION: {"data": {"x": "y"}}}),
        [(Check.KUEUE_CONFIGURATION, WARNING, "is not a configuration of Kueue")],
    ),
    "our configuration says what Kueue's is": (
        lambda p: setattr(p, "policy", replace(p.policy, kueue=Kueue())),
        [(Check.KUEUE_CONFIGURATION, INFO, "It is not asked")],
    ),
    "Kueue runs under another account": (
        lambda p: _account(p, clinic.KUEUE_DEPLOYMENTS, "kueue"),
        [(Check.KUEUE_USER, ERROR, "system:serviceaccount:kueue-system:kueue,")],
    ),
    "JobSet runs under another account": (
        lambda p: _account(p, clinic.JOBSET_DEPLOYMENTS, "jobset"),
        [(Check.JOBSET_USER, ERROR, "system:serviceaccount:jobset-system:jobset,")],
    ),
    "Kueue's Service selects nothing, its Deployment has the known name": (
        lambda p: p.content[clinic.KUEUE_SERVICE]["spec"].clear(),
        [],
    ),
    "JobSet is no Deployment": (
        lambda p: p.items(clinic.JOBSET_DEPLOYMENTS).clear(),
        [(Check.JOBSET_USER, INFO, "Can't tell as whom JobSet writes")],
    ),
    "somebody changes Jobs after us": (
        _later,
        [(Check.LATER_WEBHOOKS, INFO, "may change jobs after us")],
    ),
    "somebody refuses Pods": (
        _pods,
        [(Check.POD_WEBHOOKS, INFO, "While pods.example does not answer")],
    ),
    "somebody refuses Pods, but not ours": (
        lambda p: _pods(
            p,
            namespaceSelector={
                "matchExpressions": [
                    {
                        "key": names.NAMESPACE_NAME,
                        "operator": "NotIn",
                        "values": [PLACE.namespace],
                    }
                ]
            },
        ),
        [],
    ),
    "somebody looks at Pods and fails open": (lambda p: _pods(p, failurePolicy="Ignore"), []),
}

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
