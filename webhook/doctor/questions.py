"""What is read of a cluster: first what has known names, then what the answers lead to."""

from collections.abc import Iterator
from typing import Final

from webhook.cluster.survey import Answers, Question
from webhook.doctor import hooks, rights
from webhook.doctor.place import HOLD_POLICIES, Place
from webhook.rules import names
from webhook.rules.facts import Found
from webhook.rules.policy import Policy

REGISTRATION: Final = "/apis/admissionregistration.k8s.io/v1"
KUEUE: Final = f"/apis/{names.KUEUE_GROUP}/{names.KUEUE_VERSION}"
JOBSET: Final = f"/apis/{names.JOBSET_GROUP}/{names.JOBSET_VERSION}"
TRAINER: Final = f"/apis/{names.TRAINER_GROUP}/{names.TRAINER_VERSION}"

MUTATING: Final = Question(f"{REGISTRATION}/mutatingwebhookconfigurations", is_list=True)
VALIDATING: Final = Question(f"{REGISTRATION}/validatingwebhookconfigurations", is_list=True)
REGISTRATION_API: Final = Question(REGISTRATION)
HOLD_BINDINGS: Final = Question(f"{REGISTRATION}/mutatingadmissionpolicybindings", is_list=True)
KUEUE_API: Final = Question(KUEUE)
JOBSET_API: Final = Question(JOBSET)
TRAINER_API: Final = Question(TRAINER)
CLUSTER_QUEUES: Final = Question(f"{KUEUE}/clusterqueues", is_list=True)
ADMISSION_CHECKS: Final = Question(f"{KUEUE}/admissionchecks", is_list=True)
PRIORITY_CLASSES: Final = Question(f"{KUEUE}/workloadpriorityclasses", is_list=True)

_KNOWN: Final = (
    *(MUTATING, VALIDATING, REGISTRATION_API, KUEUE_API, JOBSET_API, TRAINER_API),
    *(CLUSTER_QUEUES, ADMISSION_CHECKS, PRIORITY_CLASSES, HOLD_BINDINGS),
)


def object_in(root: str, namespace: str, plural: str, name: str) -> Question:
    """One object of a namespace."""
    return Question(f"{root}/namespaces/{namespace}/{plural}/{name}")


def list_in(root: str, namespace: str, plural: str, selector: str = "") -> Question:
    """The objects of a namespace, of all of them where it is empty."""
    where = f"/namespaces/{namespace}" if namespace else ""
    return Question(f"{root}{where}/{plural}", selector, is_list=True)


def config_map(namespace: str, name: str) -> Question:
    """A ConfigMap."""
    return object_in("/api/v1", namespace, "configmaps", name)


def deployment(place: Place) -> Question:
    """Our own Deployment."""
    return object_in("/apis/apps/v1", place.namespace, "deployments", place.deployment)


def deployments(namespace: str) -> Question:
    """Every Deployment of a controller's namespace."""
    return list_in("/apis/apps/v1", namespace, "deployments")


def service(namespace: str, name: str) -> Question:
    """A Service."""
    return object_in("/api/v1", namespace, "services", name)


def secret(place: Place) -> Question:
    """The serving certificate."""
    return object_in("/api/v1", place.namespace, "secrets", place.secret)


def budgets(place: Place) -> Question:
    """The PodDisruptionBudgets beside the server."""
    return list_in("/apis/policy/v1", place.namespace, "poddisruptionbudgets")


def endpoints(place: Place) -> Question:
    """Where the Service leads."""
    selector = f"kubernetes.io/service-name={place.service}"
    return list_in("/apis/discovery.k8s.io/v1", place.namespace, "endpointslices", selector)


def hold_policy(name: str) -> Question:
    """An optional policy that holds Jobs inside the API server."""
    return Question(f"{REGISTRATION}/mutatingadmissionpolicies/{name}")


def one_namespace(name: str) -> Question:
    """A Namespace object."""
    return Question(f"/api/v1/namespaces/{name}")


def all_namespaces() -> Question:
    """Every Namespace object."""
    return Question("/api/v1/namespaces", is_list=True)


def local_queues(namespace: str) -> Question:
    """LocalQueues."""
    return list_in(KUEUE, namespace, "localqueues")


def stepped(root: str, namespace: str, plural: str) -> Question:
    """TrainJobs, JobSets or Jobs that carry our label."""
    return list_in(root, namespace, plural, names.STEP_QUEUE)


def jobs(namespace: str) -> Question:
    """Steps."""
    return stepped("/apis/batch/v1", namespace, "jobs")


def workloads(namespace: str) -> Question:
    """Kueue's Workloads; read after the Jobs, so that a started Job's admission is seen."""
    return list_in(KUEUE, namespace, "workloads", names.JOB_UID)


def needs(answers: Answers, place: Place, policy: Policy, namespace: str) -> Iterator[Question]:
    """What to read next; `namespace` narrows what users have made, empty for all."""
    yield from _KNOWN
    yield from _install(place, policy)
    yield from (rights.question(right, place) for right in rights.needed(place, policy))
    yield from _users(namespace)
    if jobs(namespace) in answers:
        yield workloads(namespace)
    yield from _controllers(answers)


def _install(place: Place, policy: Policy) -> Iterator[Question]:
    yield from (secret(place), deployment(place), endpoints(place), budgets(place))
    yield from (service(place.namespace, place.service), one_namespace(place.namespace))
    yield from map(hold_policy, HOLD_POLICIES)
    yield config_map(policy.kueue_namespace, policy.kueue_config_map)


def _users(namespace: str) -> Iterator[Question]:
    yield one_namespace(namespace) if namespace else all_namespaces()
    yield local_queues(namespace)
    yield stepped(TRAINER, namespace, "trainjobs")
    yield stepped(JOBSET, namespace, "jobsets")
    yield jobs(namespace)


def _controllers(answers: Answers) -> Iterator[Question]:
    """The Services behind Kueue's and JobSet's webhooks, and the Deployments beside them."""
    answer = answers.get(MUTATING)
    configurations = answer.content["items"] if isinstance(answer, Found) else ()
    for configuration in configurations:
        if hooks.is_kueues(configuration) or hooks.is_jobsets(configuration):
            for where, name in hooks.services(configuration):
                yield service(where, name)
                yield deployments(where)
