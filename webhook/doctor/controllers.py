"""Kueue's and JobSet's Deployments, and the accounts under which they run."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from webhook.doctor import hooks, questions
from webhook.doctor.case import Case
from webhook.doctor.findings import Note, error, info


@dataclass(frozen=True, slots=True)
class Controller:
    """How one of them is told: by whose webhooks lead to it, else by its well-known name."""

    title: str
    key: str
    owns: Callable[[Mapping[str, Any]], bool]
    deployment: str
    does: str


@dataclass(frozen=True, slots=True)
class Found:
    """Its Deployment."""

    namespace: str
    name: str
    account: str
    image: str

    @property
    def user(self) -> str:
        """Who the API server takes it for."""
        return f"system:serviceaccount:{self.namespace}:{self.account}"

    @property
    def version(self) -> str:
        """The tag of its image; a digest is no version."""
        return self.image.partition("@")[0].rpartition("/")[2].partition(":")[2]


KUEUE: Final = Controller(
    "Kueue",
    "controllers.kueue",
    hooks.is_kueues,
    "kueue-controller-manager",
    "its starts of Jobs are held for ever",
)
JOBSET: Final = Controller(
    "JobSet",
    "controllers.jobSet",
    hooks.is_jobsets,
    "jobset-controller-manager",
    "a pause can't be told from a start",
)


def deployment_of(controller: Controller, case: Case) -> Found | None:
    """The controller's Deployment, None where none was found. Raises CantTell."""
    for configuration in case.items(questions.MUTATING):
        if controller.owns(configuration):
            for namespace, name in sorted(hooks.services(configuration)):
                if found := _behind(namespace, name, controller, case):
                    return found
    return None


def unknown_kueue(case: Case) -> Iterator[Note]:
    """Kueue runs under a name that the configuration does not have."""
    yield from _unknown(KUEUE, case.policy.kueue_users, case)


def unknown_jobset(case: Case) -> Iterator[Note]:
    """JobSet runs under a name that the configuration does not have."""
    yield from _unknown(JOBSET, case.policy.jobset_users, case)


def _unknown(controller: Controller, users: frozenset[str], case: Case) -> Iterator[Note]:
    found = deployment_of(controller, case)
    if found is None:
        yield info(
            controller.title,
            f"Can't tell as whom {controller.title} writes: no Deployment of it was found.",
            f"Check that {controller.key} of the configuration names its ServiceAccount.",
        )
    elif found.user not in users:
        yield error(
            f"Deployment {found.namespace}/{found.name}",
            f"{controller.title} writes as {found.user}, which {controller.key} does not name: "
            f"{controller.does}.",
            f"Add {found.user} to {controller.key} of the configuration.",
        )


def _behind(namespace: str, service: str, controller: Controller, case: Case) -> Found | None:
    content = case.find(questions.service(namespace, service))
    selector = ((content or {}).get("spec") or {}).get("selector") or {}
    deployments = case.items(questions.deployments(namespace))
    behind = [item for item in deployments if selector and _is_selected(item, selector)]
    named = [item for item in deployments if item["metadata"]["name"] == controller.deployment]
    both = [item for item in behind if item in named]
    return next((_found(item) for item in [*both, *behind, *named]), None)


def _is_selected(deployment: Mapping[str, Any], selector: Mapping[str, str]) -> bool:
    labels = deployment["spec"]["template"]["metadata"].get("labels") or {}
    return selector.items() <= labels.items()


def _found(deployment: Mapping[str, Any]) -> Found:
    pod = deployment["spec"]["template"]["spec"]
    containers = sorted(pod["containers"], key=lambda item: item["name"] != "manager")
    return Found(
        deployment["metadata"]["namespace"],
        deployment["metadata"]["name"],
        pod.get("serviceAccountName") or "default",
        containers[0].get("image", ""),
    )
