"""The optional hold inside the API server: all of it, or none, and as the registrations have it."""

from collections.abc import Iterator
from typing import Final

from webhook.doctor import hooks, questions
from webhook.doctor.case import Case
from webhook.doctor.expected import HELD_IN_PROCESS
from webhook.doctor.findings import Note, error, info, warning
from webhook.doctor.place import HOLD_POLICIES
from webhook.doctor.registrations import registrations

POLICIES: Final = "mutatingadmissionpolicies"
CONDITION: Final = f"matchCondition {HELD_IN_PROCESS[0]}"
MISSING: Final = "It is not installed"
UNBOUND: Final = "No MutatingAdmissionPolicyBinding names it, so it holds nothing"
APPLY: Final = "Apply the component in-process-hold again: policies, bindings and registrations."


def incomplete(case: Case) -> Iterator[Note]:
    """Policies that are missing or bound by nobody, while others or the registration need them."""
    is_served, lacks, asks = _is_served(case), dict(_lacks(case)), _asks(case)
    if False in asks:
        for subject, what in lacks.items():
            message = f"{what}, but the registration leaves Jobs to it ({CONDITION})."
            yield error(subject, message, APPLY)
    elif list(lacks.values()) == [MISSING] * len(HOLD_POLICIES):
        if is_served:
            yield _none()
    elif lacks:
        for subject, what in lacks.items():
            yield warning(subject, f"{what}.", APPLY)
    elif asks:
        message = f"We are asked about Jobs all the same, for lack of the {CONDITION}."
        yield info("in-process-hold", message, APPLY)


def _lacks(case: Case) -> Iterator[tuple[str, str]]:
    """What is wrong with each policy that does not hold."""
    bound = {item["spec"].get("policyName") for item in case.items(questions.HOLD_BINDINGS)}
    for name in HOLD_POLICIES:
        subject = f"MutatingAdmissionPolicy {name}"
        if case.find(questions.hold_policy(name)) is None:
            yield subject, MISSING
        elif name not in bound:
            yield subject, UNBOUND


def _asks(case: Case) -> set[bool]:
    """Whether we are asked about Jobs, of each entry that the policies can take the place of."""
    return {
        HELD_IN_PROCESS not in hooks.conditions(entry).items()
        for one in registrations(case)
        for name, entry in one.entries.items()
        if one.expected[name].may_be_held_in_process
    }


def _is_served(case: Case) -> bool:
    api = case.find(questions.REGISTRATION_API)
    return POLICIES in {item["name"] for item in (api or {}).get("resources") or ()}


def _none() -> Note:
    return info(
        f"MutatingAdmissionPolicy {HOLD_POLICIES[-1]}",
        f"{MISSING}; with it the API server holds Jobs itself, also while our server is down.",
        "Consider the optional component in-process-hold.",
    )
