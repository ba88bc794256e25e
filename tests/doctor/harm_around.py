"""Harm around the installation: the API server, the controllers, the webhooks of others."""

from dataclasses import replace
from typing import Any

from tests.doctor import patient as clinic
from tests.doctor.patient import PLACE, Break, Expected, Patient
from webhook.cluster.survey import VERSION
from webhook.doctor import questions
from webhook.doctor.findings import Check, Severity
from webhook.doctor.place import HOLD_POLICIES
from webhook.rules import names
from webhook.rules.policy import Kueue

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO
MUTATING, VALIDATING = questions.MUTATING, questions.VALIDATING
QUEUES = questions.local_queues("")
JOBS = questions.jobs("")


def _container(patient: Patient) -> Any:
    (deployment,) = patient.items(clinic.KUEUE_DEPLOYMENTS)
    return deployment["spec"]["template"]["spec"]["containers"][0]


def _account(patient: Patient, question: Any, name: str) -> None:
    (deployment,) = patient.items(question)
    deployment["spec"]["template"]["spec"]["serviceAccountName"] = name


def _unselected(patient: Patient) -> None:
    patient.configure_kueue(managedJobsNamespaceSelector={"matchLabels": {"queued": "yes"}})


def _unselected_without_queues(patient: Patient) -> None:
    _unselected(patient)
    patient.items(QUEUES).clear()
    patient.items(JOBS).clear()


def _without_policies(patient: Patient) -> None:
    _unhold(patient)
    patient.absent.add(questions.HOLD_BINDINGS)
    patient.content[questions.REGISTRATION_API]["resources"].clear()


def _unhold(patient: Patient) -> None:
    patient.absent.update(map(questions.hold_policy, HOLD_POLICIES))


def _ask_about_jobs(patient: Patient) -> None:
    for entry in ("created-jobs.kueue-steps.io", "jobs.kueue-steps.io"):
        patient.entry(entry)["matchConditions"].pop()


def _asked(harm: Break) -> Break:
    """Harm to an installation whose webhooks are asked about Jobs."""

    def both(patient: Patient) -> None:
        _ask_about_jobs(patient)
        harm(patient)

    return both


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
        _asked(_unhold),
        [(Check.HOLD_POLICY, INFO, "It is not installed; with it")],
    ),
    "an API server without such policies": (_asked(_without_policies), []),
    "one of the two policies is missing": (
        _asked(lambda p: p.absent.add(questions.hold_policy(HOLD_POLICIES[0]))),
        [(Check.HOLD_POLICY, WARNING, "It is not installed.")],
    ),
    "policies without bindings": (
        _asked(lambda p: p.items(questions.HOLD_BINDINGS).clear()),
        [(Check.HOLD_POLICY, WARNING, "so it holds nothing.")] * 2,
    ),
    "policies hold Jobs, and we are asked all the same": (
        _ask_about_jobs,
        [(Check.HOLD_POLICY, INFO, "for lack of the matchCondition held-in-process")],
    ),
    "the registration leaves Jobs to policies that are not there": (
        _without_policies,
        [(Check.HOLD_POLICY, ERROR, "not installed, but the registration leaves Jobs to it")] * 2,
    ),
    "the registration leaves Jobs to a policy that nobody binds": (
        lambda p: p.items(questions.HOLD_BINDINGS).pop(),
        [(Check.HOLD_POLICY, ERROR, "holds nothing, but the registration leaves Jobs to it")],
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
