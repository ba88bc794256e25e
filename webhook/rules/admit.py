"""From a request to the rule of its kind: the one door into this package."""

from typing import Protocol

from webhook.rules import job, jobset, names, trainjob
from webhook.rules.errors import Denied
from webhook.rules.facts import Facts, Key
from webhook.rules.policy import Policy
from webhook.rules.reasons import Reason
from webhook.rules.review import Operation, Request
from webhook.rules.verdict import Verdict


class Rule(Protocol):
    """The functions that each kind's module has."""

    def needs(self, request: Request, facts: Facts, policy: Policy, /) -> tuple[Key, ...]:
        """The objects that `mutate` has to know, as far as what is known tells."""
        ...

    def mutate(self, request: Request, facts: Facts, policy: Policy, /) -> Verdict:
        """The verdict of the mutating webhook; may raise Denied."""
        ...

    def validate(self, request: Request, policy: Policy, /) -> Verdict:
        """The verdict of the validating webhook; may raise Denied."""
        ...


KINDS: dict[tuple[str, str], Rule] = {
    (names.TRAINER_GROUP, "trainjobs"): trainjob,
    (names.JOBSET_GROUP, "jobsets"): jobset,
    (names.BATCH_GROUP, "jobs"): job,
}


def needs(request: Request, facts: Facts, policy: Policy) -> list[Key]:
    """The objects that `mutate` has to know beside the facts: read them, then ask again."""
    try:
        keys = () if _why_passed(request) else _kind(request).needs(request, facts, policy)
    except Denied:
        return []  # `mutate` meets the same and says so.
    return [key for key in dict.fromkeys(keys) if key not in facts]


def mutate(request: Request, facts: Facts, policy: Policy) -> Verdict:
    """The verdict of the mutating webhook. Raises nothing but BadReview."""
    if reason := _why_passed(request):
        return Verdict(reason)
    try:
        return _kind(request).mutate(request, facts, policy)
    except Denied as denial:
        return Verdict(denial.reason, denial=denial)


def validate(request: Request, policy: Policy) -> Verdict:
    """The verdict of the validating webhook. Raises nothing but BadReview."""
    if reason := _why_passed(request):
        return Verdict(reason)
    try:
        return _kind(request).validate(request, policy)
    except Denied as denial:
        return Verdict(denial.reason, denial=denial)


def _why_passed(request: Request) -> Reason | None:
    if (request.resource.group, request.resource.resource) not in KINDS or request.sub_resource:
        return Reason.OTHER_RESOURCE
    if request.operation not in {Operation.CREATE, Operation.UPDATE}:
        return Reason.OTHER_OPERATION
    return None


def _kind(request: Request) -> Rule:
    return KINDS[request.resource.group, request.resource.resource]
