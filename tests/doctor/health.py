"""A cluster in good health: everything installed as the manifests have it, the hold too."""

import base64
import copy
import json

from tests.doctor import patient as clinic
from tests.doctor.patient import AUTHORITY, PLACE, TEAM, Object, Patient
from webhook.cluster.survey import VERSION, Question
from webhook.doctor import questions
from webhook.doctor.expected import HELD_IN_PROCESS
from webhook.doctor.place import HOLD_POLICIES
from webhook.rules import names


def healthy() -> Patient:
    """Everything installed as the manifests have it, the hold too; one stepped TrainJob."""
    patient = Patient({VERSION: {"gitVersion": "v1.36.3"}})
    patient.content |= _apis() | _registered() | _server() | _controllers() | _team()
    patient.content |= clinic.permitted(PLACE)
    patient.content = copy.deepcopy(patient.content)
    patient.trust(base64.b64encode(AUTHORITY.certificate).decode())
    patient.configure_kueue()
    return patient


def _apis() -> dict[Question, Object]:
    served = {
        questions.KUEUE_API: ("workloads", "localqueues", "clusterqueues", "admissionchecks"),
        questions.JOBSET_API: ("jobsets",),
        questions.TRAINER_API: ("trainjobs",),
        questions.REGISTRATION_API: ("mutatingadmissionpolicies",),
    }
    kinds: dict[Question, Object] = {
        api: {"resources": [{"name": name} for name in plurals]} for api, plurals in served.items()
    }
    policies = {questions.hold_policy(name): clinic.named(name) for name in HOLD_POLICIES}
    bindings = [{**clinic.named(name), "spec": {"policyName": name}} for name in HOLD_POLICIES]
    return kinds | policies | {questions.HOLD_BINDINGS: {"items": bindings}}


def _registered() -> dict[Question, Object]:
    # Through JSON, since YAML's anchors would make one object of many.
    mutating, validating = (json.loads(json.dumps(item)) for item in clinic.shipped())
    name, expression = HELD_IN_PROCESS
    for entry in mutating["webhooks"][2:]:
        entry.setdefault("matchConditions", []).append({"name": name, "expression": expression})
    kueue = {"namespace": "kueue-system", "service": "kueue-webhook-service"}
    jobset = {"namespace": "jobset-system", "service": "jobset-webhook-service"}
    path = "/mutate-jobset-x-k8s-io-v1alpha2-jobset"
    kueues = clinic.configuration(
        clinic.KUEUES,
        clinic.hook("mworkload.kb.io", names.KUEUE_GROUP, "workloads", **kueue),
        clinic.hook("mjobset.kb.io", names.JOBSET_GROUP, "jobsets", path=path, **kueue),
    )
    jobsets = clinic.configuration(
        "jobset-mutating-webhook-configuration",
        clinic.hook("mjobset.kb.io", names.JOBSET_GROUP, "jobsets", path=path, **jobset),
    )
    return {
        questions.MUTATING: {"items": [mutating, kueues, jobsets]},
        questions.VALIDATING: {"items": [validating]},
    }


def _server() -> dict[Question, Object]:
    labels = {"app.kubernetes.io/name": "kueue-steps"}
    deployment = {
        **clinic.named("kueue-steps", PLACE.namespace),
        "spec": {"replicas": 2, "template": {"metadata": {"labels": labels}, "spec": {}}},
        "status": {"readyReplicas": 2},
    }
    budget = {"spec": {"selector": {"matchLabels": labels}}}
    ready = {"endpoints": [{"conditions": {"ready": True}}]}
    return {
        questions.service(PLACE.namespace, PLACE.service): {"spec": {"selector": labels}},
        questions.endpoints(PLACE): {"items": [ready]},
        questions.deployment(PLACE): deployment,
        questions.budgets(PLACE): {"items": [budget]},
        questions.secret(PLACE): clinic.secret(clinic.leaf()),
    }


def _controllers() -> dict[Question, Object]:
    answers: dict[Question, Object] = {}
    for name, image in (("kueue", "kueue:v0.19.2"), ("jobset", "jobset:v0.12.0")):
        where = f"{name}-system"
        service = questions.service(where, f"{name}-webhook-service")
        labels = {"control-plane": f"{name}-manager"}
        container = {"name": "manager", "image": f"registry.example:5000/{image}@sha256:1f"}
        account = f"{name}-controller-manager"
        pod = {"serviceAccountName": account, "containers": [container]}
        deployment = {
            **clinic.named(account, where),
            "spec": {"template": {"metadata": {"labels": labels}, "spec": pod}},
        }
        answers[service] = {"spec": {"selector": labels}}
        answers[questions.deployments(where)] = {"items": [deployment]}
    return answers


def _team() -> dict[Question, Object]:
    active = {"conditions": [{"type": "Active", "status": "True"}]}
    spaces = ("kube-system", "kueue-system", PLACE.namespace, TEAM)
    labels = {names.STEP_QUEUE: "gpu", names.PRIORITY_CLASS: "low"}
    done = {"conditions": [{"type": "Complete", "status": "True"}]}
    return {
        questions.all_namespaces(): {"items": [clinic.named(space) for space in spaces]},
        questions.one_namespace(PLACE.namespace): clinic.named(PLACE.namespace),
        questions.CLUSTER_QUEUES: {"items": [{**clinic.named("gpus"), "status": active}]},
        questions.ADMISSION_CHECKS: {"items": []},
        questions.PRIORITY_CLASSES: {"items": [clinic.named("low")]},
        questions.local_queues(""): {
            "items": [{**clinic.named("gpu", TEAM), "spec": {"clusterQueue": "gpus"}}]
        },
        clinic.TRAINJOBS: {"items": [clinic.named("tune", TEAM, labels=labels)]},
        clinic.JOBSETS: {"items": [clinic.named("tune", TEAM, labels=labels)]},
        questions.jobs(""): {
            "items": [
                {**clinic.job("done", suspend=False), "status": done},
                clinic.job("running", suspend=False),
                clinic.job("waiting", suspend=True),
                clinic.job("paused", suspend=True, annotations={names.PAUSED: ""}),
            ]
        },
        questions.workloads(""): {
            "items": [
                clinic.workload("running", "QuotaReserved", "Admitted"),
                clinic.workload("waiting"),
                clinic.workload("paused", active=False, annotations={names.PAUSED: ""}),
            ]
        },
    }
