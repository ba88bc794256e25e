"""Writes of a step's Job that the rules tell apart, as tables: who writes, and what."""

from collections.abc import Callable
from copy import deepcopy
from typing import Final

from tests.stack.objects import QUEUE, STEP_QUEUE, Object

PREBUILT: Final = "kueue.x-k8s.io/prebuilt-workload-name"
KUEUE: Final = "system:serviceaccount:kueue-system:kueue-controller-manager"
JOBSET: Final = "system:serviceaccount:jobset-system:jobset-controller-manager"
USERS: Final = {"Kueue": KUEUE, "JobSet": JOBSET, "a person": "alice"}
SPOT: Final = {"key": "spot", "operator": "Exists", "effect": "NoSchedule"}

LISTS: Final[Object] = {
    "tolerations": [
        {"key": "a", "operator": "Exists"},
        {"key": "b", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 60},
    ],
    "schedulingGates": [{"name": "a.example/1"}, {"name": "a.example/2"}],
}
"""What pods have that JobSet merges in its own way."""

Edit = Callable[[Object], None]


def _pods(job: Object) -> Object:
    spec: Object = job["spec"]["template"]["spec"]
    return spec


def _nothing(_job: Object) -> None:
    pass


def _merge_lists(job: Object) -> None:
    pods = _pods(job)
    pods["tolerations"] = [SPOT, *reversed(pods["tolerations"]), SPOT, *pods["tolerations"]]
    pods["schedulingGates"] = pods["schedulingGates"][::-1]


def _drop_lists(job: Object) -> None:
    del _pods(job)["tolerations"], _pods(job)["schedulingGates"]


def _change_template(job: Object) -> None:
    job["spec"]["template"]["metadata"]["labels"]["attempt"] = "two"
    job["spec"]["template"]["metadata"]["annotations"] = {"attempt": "two"}
    _pods(job)["nodeSelector"] = {"pool": "gpu"}
    job["spec"]["parallelism"] = 1


def _strip_queue(job: Object) -> None:
    del job["metadata"]["labels"][QUEUE]


def _strip_step(job: Object) -> None:
    del job["metadata"]["labels"][STEP_QUEUE]


def _strip_all(job: Object) -> None:
    del job["metadata"]["labels"]


def _change_step(job: Object) -> None:
    job["metadata"]["labels"][STEP_QUEUE] = "other"


def _strip_owner(job: Object) -> None:
    del job["metadata"]["ownerReferences"]


def _strip_annotations(job: Object) -> None:
    job["metadata"].pop("annotations", None)


def _add_prebuilt(job: Object) -> None:
    job["metadata"].setdefault("annotations", {})[PREBUILT] = "mine"


EDITS: Final[dict[str, Edit]] = {
    "changes nothing else": _nothing,
    "merges lists as JobSet does": _merge_lists,
    "drops the lists": _drop_lists,
    "changes the pod template": _change_template,
    "strips Kueue's label": _strip_queue,
    "strips our label": _strip_step,
    "strips all labels": _strip_all,
    "changes our label": _change_step,
    "takes the owner off": _strip_owner,
    "strips annotations": _strip_annotations,
    "names a prebuilt Workload": _add_prebuilt,
}


def _other_owner(job: Object) -> None:
    job["metadata"]["ownerReferences"][0] |= {"kind": "Deployment", "apiVersion": "apps/v1"}


def _managed_elsewhere(job: Object) -> None:
    job["spec"]["managedBy"] = "example.com/controller"


def _managed_here(job: Object) -> None:
    job["spec"]["managedBy"] = "kubernetes.io/job-controller"


def _no_queue(job: Object) -> None:
    job["metadata"]["labels"] = {STEP_QUEUE: "gpu"}


def _other_queue(job: Object) -> None:
    job["metadata"]["labels"] = {STEP_QUEUE: "gpu", QUEUE: "other"}


def _annotated(job: Object) -> None:
    job["metadata"]["annotations"] = {"team": "a"}


CREATES: Final[dict[str, Edit]] = {
    "as JobSet makes it": _nothing,
    "without Kueue's label": _no_queue,
    "in another queue": _other_queue,
    "with annotations": _annotated,
    "of another owner": _other_owner,
    "of no owner": _strip_owner,
    "managed elsewhere": _managed_elsewhere,
    "managed by the Job controller": _managed_here,
    "with a prebuilt Workload": _add_prebuilt,
}


def edited(job: Object, edit: Edit, *, suspend: bool) -> Object:
    """The Job as it is sent: whatever version is stored."""
    sent = deepcopy(job)
    sent["metadata"].pop("resourceVersion", None)
    sent["spec"]["suspend"] = suspend
    edit(sent)
    return sent
