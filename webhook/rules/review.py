"""AdmissionReview (admission.k8s.io/v1) on the wire: bytes to a request, a Verdict to bytes.

Unknown fields are tolerated, so that reviews of newer API servers decode; a call that is not a
review is refused in plain words (`BadReview`).
"""

import re
from base64 import b64encode
from collections.abc import Callable
from enum import StrEnum
from functools import cached_property
from typing import Any, Final, TypeVar, cast

import msgspec

from webhook.rules import patch
from webhook.rules.errors import BadReview, Denied
from webhook.rules.objects import Head, JobSet, Metadata, TrainJob, View
from webhook.rules.reasons import Reason
from webhook.rules.verdict import Verdict
from webhook.rules.words import printable

API_VERSION: Final = "admission.k8s.io/v1"
KIND: Final = "AdmissionReview"

WARNINGS: Final = 3
WARNING_LENGTH: Final = 120

_NULL: Final = msgspec.Raw(b"null")

T = TypeVar("T")
ViewT = TypeVar("ViewT", bound=View)
WholeT = TypeVar("WholeT", Head, TrainJob, JobSet)


class Operation(StrEnum):
    """What is being done to the object."""

    CREATE = "CREATE"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    CONNECT = "CONNECT"


class Resource(View, frozen=True):
    """GroupVersionResource."""

    group: str
    version: str
    resource: str


class UserInfo(View, frozen=True):
    """Who asks, after impersonation."""

    username: str = ""


class Request(View, frozen=True, dict=True):
    """AdmissionReview.request: one write to one object, still encoded."""

    uid: str
    resource: Resource
    operation: Operation
    sub_resource: str = ""
    name: str = ""
    namespace: str = ""
    user_info: UserInfo = UserInfo()
    object: msgspec.Raw = _NULL
    old_object: msgspec.Raw = _NULL
    dry_run: bool | None = False

    def new(self, view: type[ViewT]) -> ViewT:
        """The object as it would be stored, seen through `view`; BadReview where it is missing."""
        return self._decoded(self.object, view, "object")

    def old(self, view: type[ViewT]) -> ViewT:
        """The object as it is stored, seen through `view`; BadReview where it is missing."""
        return self._decoded(self.old_object, view, "oldObject")

    def metadata(self, view: type[WholeT]) -> Metadata:
        """Metadata of the object as it would be stored.

        Through the view that a rule needs anyway if the object is ours; whether it is must be known
        of one that has another shape, too.
        """
        try:
            return self.new(view).metadata
        except Denied:
            return self.new(Head).metadata

    def once(self, rule: Callable[["Request"], T]) -> T:
        """What a rule says of the request alone, found out once: it is asked again and again."""
        if rule not in self._said:
            self._said[rule] = rule(self)
        return cast("T", self._said[rule])

    def _decoded(self, raw: msgspec.Raw, view: type[ViewT], field: str) -> ViewT:
        if raw == _NULL:
            raise BadReview(
                f"request.{field} is missing, but {self.operation.value} always carries it."
            )
        if (field, view) not in self._seen:
            self._seen[field, view] = self._read(raw, view, field)
        return cast("ViewT", self._seen[field, view])

    @cached_property
    def _said(self) -> dict[Callable[["Request"], Any], Any]:
        """What was said already."""
        return {}

    @cached_property
    def _seen(self) -> dict[tuple[str, type[View]], View]:
        """What was decoded already: views are frozen, and several rules look through the same."""
        return {}

    def _read(self, raw: msgspec.Raw, view: type[ViewT], field: str) -> ViewT:
        try:
            return msgspec.json.decode(raw, type=view)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            # Custom resources reach mutating webhooks before their schema is checked.
            raise _misshapen(error, field, self.resource.resource) from error


class _Review(View, frozen=True):
    api_version: str
    kind: str
    request: Request


_decoder = msgspec.json.Decoder(_Review)
_encoder = msgspec.json.Encoder()


def read(body: bytes) -> Request:
    """The request of a review; BadReview says what is wrong with anything else."""
    try:
        review = _decoder.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadReview(f"The body is not a readable {KIND}: {_plain(error)}.") from error
    if review.kind != KIND or review.api_version != API_VERSION:
        raise BadReview(
            f"This server reads {API_VERSION} {KIND}, "
            f"but the body is {review.api_version} {review.kind}."
        )
    return review.request


def write(request: Request, verdict: Verdict) -> bytes:
    """The review that answers `request`."""
    response: dict[str, Any] = {"uid": request.uid, "allowed": verdict.denial is None}
    if verdict.denial is not None:
        response["status"] = {
            "status": "Failure",
            "message": str(verdict.denial),
            "reason": "Invalid" if verdict.denial.code == 422 else "Forbidden",
            "code": verdict.denial.code,
        }
    if operations := patch.operations(verdict.before, verdict.after):
        response["patchType"] = "JSONPatch"
        response["patch"] = b64encode(_encoder.encode(operations)).decode()
    if verdict.warnings:
        response["warnings"] = [_line(text) for text in verdict.warnings[:WARNINGS]]
    response["auditAnnotations"] = {"decision": verdict.reason.value}
    return _encoder.encode({"apiVersion": API_VERSION, "kind": KIND, "response": response})


def _misshapen(error: Exception, field: str, plural: str) -> Denied:
    """The object is not of its kind's shape: where, and where its shape is to be seen."""
    problem, _, place = str(error).partition(" - at `$")
    path = place.rstrip("`").lstrip(".")
    explained = re.sub(r"\[[^]]*\]", "", ".".join(filter(None, (plural, path))))
    way_out = f"`kubectl explain {explained}` shows what may stand there"
    if path.endswith(("labels[...]", "annotations[...]")):
        way_out = (
            'Labels and annotations are text: put a number, true or false in quotes, as in "60"'
        )
    return Denied(path or field, None, f"{problem}. {way_out}", reason=Reason.INVALID_OBJECT)


def _line(warning: str) -> str:
    """What the API server passes on: one short line without control characters."""
    text = printable(warning)
    return text if len(text) <= WARNING_LENGTH else f"{text[: WARNING_LENGTH - 1]}…"


def _plain(error: Exception) -> str:
    return str(error).replace("`", "").removesuffix(".")
