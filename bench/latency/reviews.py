"""Which reviews are measured, and how a recorded one is recognised. Pure."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import msgspec

from localcluster.demo.trace import NODE
from webhook.http.app import MUTATE_PATH
from webhook.rules import names

ASKED: Final = "?timeout=5s"
"""What API servers add to a path."""


class What(StrEnum):
    """A write of one of our kinds by somebody in particular."""

    TRAINJOB_CREATE = "TrainJob CREATE by a user"
    JOBSET_CREATE = "JobSet CREATE by Trainer"
    JOB_CREATE = "Job CREATE by JobSet"
    JOB_UPDATE_BY_JOBSET = "Job UPDATE by JobSet"
    JOB_UPDATE_BY_KUEUE = "Job UPDATE by Kueue"
    JOB_UPDATE_BY_USER = "Job UPDATE by a user"


CREATES: Final = (What.TRAINJOB_CREATE, What.JOBSET_CREATE, What.JOB_CREATE)


class Size(StrEnum):
    """About how many bytes of JSON."""

    SMALL = "small"
    MEDIAN = "median"
    LARGE = "200 KiB"
    HUGE = "1.5 MiB"


KUEUE_PATHS: Final = {
    What.TRAINJOB_CREATE: "/mutate-trainer-kubeflow-org-v1alpha1-trainjob",
    What.JOBSET_CREATE: "/mutate-jobset-x-k8s-io-v1alpha2-jobset",
    What.JOB_CREATE: "/mutate-batch-v1-job",
    # Kueue mutates Jobs at CREATE only; an UPDATE goes to its validating webhook.
    What.JOB_UPDATE_BY_JOBSET: "/validate-batch-v1-job",
    What.JOB_UPDATE_BY_KUEUE: "/validate-batch-v1-job",
    What.JOB_UPDATE_BY_USER: "/validate-batch-v1-job",
}

_CREATED: Final = {
    Size.SMALL: "small",
    Size.MEDIAN: "median",
    Size.LARGE: "large",
    Size.HUGE: "huge",
}
_UPDATED: Final = _CREATED | {Size.LARGE: "half-large", Size.HUGE: "half-huge"}


@dataclass(frozen=True)
class Review:
    """One AdmissionReview as the API server posted it."""

    what: What
    size: Size
    body: bytes

    @property
    def key(self) -> str:
        """Its name in tables and records."""
        return key(self.what, self.size)

    @property
    def uid(self) -> str:
        """The uid that its answer has to carry."""
        return msgspec.json.decode(self.body, type=_Review).request.uid

    @property
    def our_path(self) -> str:
        """Where our server takes it."""
        return MUTATE_PATH + ASKED

    @property
    def kueue_path(self) -> str:
        """Where Kueue takes one of its kind and operation."""
        return KUEUE_PATHS[self.what] + ASKED


def key(what: What, size: Size) -> str:
    """The name of a review."""
    return f"{what}, {size}"


def source(what: What, size: Size) -> str:
    """The name of the TrainJob whose submission leads to the review."""
    return (_CREATED if what in CREATES else _UPDATED)[size]


def find(body: bytes) -> list[Review]:
    """The review, once for each size that it stands for; empty if it is none that is measured."""
    request = msgspec.json.decode(body, type=_Review).request
    what = None if request.dry_run else _what(request)
    if what is None:
        return []
    name = request.name.removesuffix(f"-{NODE}-0")
    return [Review(what, size, body) for size in Size if source(what, size) == name]


class _Spec(msgspec.Struct, frozen=True, rename="camel"):
    suspend: bool | None = None


class _Object(msgspec.Struct, frozen=True, rename="camel"):
    spec: _Spec = _Spec()

    @property
    def is_suspended(self) -> bool:
        return bool(self.spec.suspend)


class _User(msgspec.Struct):
    username: str


class _Resource(msgspec.Struct):
    resource: str


class _Request(msgspec.Struct, rename="camel"):
    uid: str
    resource: _Resource
    operation: str
    name: str
    user_info: _User
    object: _Object
    old_object: _Object | None = None
    dry_run: bool = False


class _Review(msgspec.Struct):
    request: _Request


def _what(request: _Request) -> What | None:
    match request.resource.resource, request.operation:
        case "trainjobs", "CREATE":
            return What.TRAINJOB_CREATE
        case "jobsets", "CREATE":
            return What.JOBSET_CREATE
        case "jobs", operation if request.name.endswith(f"-{NODE}-0"):
            return What.JOB_CREATE if operation == "CREATE" else _start(request)
        case _:
            return None


def _start(request: _Request) -> What | None:
    """Who tries to start a Job; None for any other UPDATE."""
    was_suspended = bool(request.old_object and request.old_object.is_suspended)
    if not was_suspended or request.object.is_suspended:
        return None
    if request.user_info.username in names.JOBSET_USERS:
        return What.JOB_UPDATE_BY_JOBSET
    if request.user_info.username == names.KUEUE_USER:
        return What.JOB_UPDATE_BY_KUEUE
    return What.JOB_UPDATE_BY_USER
