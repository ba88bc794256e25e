"""Harm to the installation: registrations and the server; one thing each."""

from dataclasses import replace

from tests.doctor import patient as clinic
from tests.doctor.patient import PLACE, Break, Expected, Patient
from webhook.doctor import questions, rights
from webhook.doctor.case import Source
from webhook.doctor.findings import Check, Severity
from webhook.rules import names

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO
MUTATING, VALIDATING = questions.MUTATING, questions.VALIDATING
DEPLOYMENT = questions.deployment(PLACE)
SERVICE = questions.service(PLACE.namespace, PLACE.service)


def _rename_ours(patient: Patient, name: str) -> None:
    patient.registration()["metadata"]["name"] = name
    patient.place = replace(patient.place, mutating=name)
    patient.content |= clinic.permitted(patient.place)


def _named_user(patient: Patient, name: str) -> None:
    condition = patient.entry("jobs.kueue-steps.io")["matchConditions"][1]
    condition["expression"] = condition["expression"].replace(names.KUEUE_USER, name)


def _other_condition(patient: Patient) -> None:
    patient.entry("jobs.kueue-steps.io")["matchConditions"][0]["expression"] = "true"


def _deny(patient: Patient) -> None:
    right = rights.Right("patch", "kueue.x-k8s.io", "workloads")
    patient.content[rights.question(right, PLACE)] = {"status": {"allowed": False}}


def _lose_deployment(patient: Patient) -> None:
    patient.absent.add(DEPLOYMENT)


REGISTRATIONS: dict[str, tuple[Break, list[Expected]]] = {
    "the mutating registration is gone": (
        lambda p: p.items(MUTATING).remove(p.registration()),
        [(Check.REGISTRATION_PRESENT, ERROR, "does not exist")],
    ),
    "the validating registration is gone": (
        lambda p: p.items(VALIDATING).clear(),
        [(Check.REGISTRATION_PRESENT, ERROR, "does not exist")],
    ),
    "one webhook was taken out of it": (
        lambda p: p.registration()["webhooks"].pop(),
        [(Check.REGISTRATION_COMPLETE, ERROR, "jobs.kueue-steps.io is missing")],
    ),
    "a webhook fails open": (
        lambda p: p.entry("jobs.kueue-steps.io").update(failurePolicy="Ignore"),
        [(Check.REGISTRATION_COMPLETE, ERROR, "failurePolicy Ignore")],
    ),
    "a webhook is not called again": (
        lambda p: p.entry("jobsets.kueue-steps.io").update(reinvocationPolicy="Never"),
        [(Check.REGISTRATION_COMPLETE, WARNING, "reinvocationPolicy Never, not IfNeeded")],
    ),
    "a condition is another one": (
        _other_condition,
        [(Check.REGISTRATION_COMPLETE, WARNING, "matchCondition starts-stops-or-strips")],
    ),
    "a condition was added": (
        lambda p: p.entry("created-jobs.kueue-steps.io").update(
            matchConditions=[{"name": "mine", "expression": "true"}]
        ),
        [(Check.REGISTRATION_COMPLETE, WARNING, "matchCondition mine")],
    ),
    "C21: every Job's write depends on us": (
        lambda p: p.entry("jobs.kueue-steps.io").pop("objectSelector"),
        [(Check.REGISTRATION_COMPLETE, ERROR, "every Job's write depends on us")],
    ),
    "a webhook covers another operation": (
        lambda p: p.entry("jobs.kueue-steps.io")["rules"][0].update(operations=["DELETE"]),
        [(Check.REGISTRATION_COMPLETE, ERROR, "does not cover what it has to")],
    ),
    "a webhook leads to another Service": (
        lambda p: p.entry("jobs.kueue-steps.io")["clientConfig"]["service"].update(name="x"),
        [(Check.REGISTRATION_COMPLETE, ERROR, "leads to kueue-steps-system/x/mutate")],
    ),
    "a webhook leads to a URL": (
        lambda p: p.entry("jobs.kueue-steps.io")["clientConfig"].update(
            service=None, url="https://elsewhere"
        ),
        [(Check.REGISTRATION_COMPLETE, ERROR, "leads to https://elsewhere")],
    ),
    "ours sorts after Kueue's": (
        lambda p: _rename_ours(p, "z-kueue-steps"),
        [(Check.REGISTRATION_ORDER, ERROR, "sorts after Kueue's")],
    ),
    "Kueue has no registration": (
        lambda p: p.items(MUTATING).pop(1),
        [
            (Check.KUEUE_VERSION, INFO, "no Deployment of it was found"),
            (Check.REGISTRATION_ORDER, WARNING, "None of Kueue's was found"),
            (Check.KUEUE_USER, INFO, "Can't tell as whom Kueue writes"),
        ],
    ),
    "C21: kube-system depends on us": (
        lambda p: p.entry("jobs.kueue-steps.io").pop("namespaceSelector"),
        [(Check.REGISTRATION_SCOPE, ERROR, "covers kube-system")],
    ),
    "an administrator chose namespaces": (
        lambda p: p.entry("jobs.kueue-steps.io")["namespaceSelector"].update(
            matchLabels={"steps": "on"}
        ),
        [(Check.REGISTRATION_SCOPE, INFO, "chooses by label")],
    ),
    "the registration names another user than the configuration": (
        lambda p: _named_user(p, "system:serviceaccount:x:y"),
        [(Check.REGISTRATION_USERS, ERROR, "lets system:serviceaccount:x:y start Jobs")],
    ),
    "the configuration names more users than the registration": (
        lambda p: setattr(
            p, "policy", replace(p.policy, kueue_users=frozenset({names.KUEUE_USER, "system:z"}))
        ),
        [
            (Check.REGISTRATION_USERS, WARNING, "does not name system:z"),
            (Check.REGISTRATION_USERS, WARNING, "does not name system:z"),
        ],
    ),
}

SERVER: dict[str, tuple[Break, list[Expected]]] = {
    "no Service": (
        lambda p: p.absent.add(SERVICE),
        [(Check.SERVICE_ENDPOINTS, ERROR, "does not exist")],
    ),
    "C21: no ready Pod": (
        lambda p: p.items(questions.endpoints(PLACE))[0]["endpoints"][0]["conditions"].update(
            ready=False
        ),
        [(Check.SERVICE_ENDPOINTS, ERROR, "leads to no ready Pod")],
    ),
    "a Service that leads out of the cluster": (
        lambda p: p.content[SERVICE].update(spec={"type": "ExternalName", "externalName": "x"}),
        [(Check.SERVICE_ENDPOINTS, INFO, "Can't tell whether the server is ready")],
    ),
    "a replica that is not ready": (
        lambda p: p.content[DEPLOYMENT]["status"].update(readyReplicas=1),
        [(Check.SERVER_REPLICAS, ERROR, "1 of 2 replicas are ready")],
    ),
    "one replica": (
        lambda p: p.content[DEPLOYMENT]["spec"].update(replicas=1),
        [(Check.SERVER_REPLICAS, WARNING, "one replica")],
    ),
    "no PodDisruptionBudget": (
        lambda p: p.items(questions.budgets(PLACE)).clear(),
        [(Check.DISRUPTION_BUDGET, WARNING, "a drain may take all")],
    ),
    "a server that is no Deployment": (
        _lose_deployment,
        [
            (Check.SERVER_REPLICAS, INFO, "Can't tell how many"),
            (Check.DISRUPTION_BUDGET, INFO, "Can't tell what"),
        ],
    ),
    "a right that was taken away": (
        _deny,
        [(Check.SERVER_RIGHTS, ERROR, "may not patch workloads.kueue.x-k8s.io")],
    ),
    "a configuration with an unknown key": (
        lambda p: setattr(p, "source", Source("file", "log.levl: unknown key")),
        [(Check.CONFIGURATION, ERROR, "log.levl: unknown key")],
    ),
    "a configuration that may not be read": (
        lambda p: setattr(p, "source", Source("file", unread="forbidden")),
        [(Check.CONFIGURATION, WARNING, "Can't tell: file: forbidden")],
    ),
    "no configuration": (
        lambda p: setattr(p, "source", Source("file", is_missing=True)),
        [(Check.CONFIGURATION, INFO, "the defaults were examined")],
    ),
}
