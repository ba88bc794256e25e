"""What a healthy cluster looks like to the doctor, and one that may not be read at all."""

from dataclasses import replace

import pytest

from tests.doctor.health import healthy
from tests.doctor.patient import TEAM
from webhook.cluster.survey import Question
from webhook.doctor import questions, rights
from webhook.doctor.checks import CHECKS
from webhook.doctor.findings import Check, Severity
from webhook.rules.policy import Kueue


def test_a_healthy_cluster_is_fine_in_every_respect() -> None:
    """Each check says ok, once."""
    found = [(finding.check, finding.note.severity) for finding in healthy().findings()]
    assert found == [(check, Severity.OK) for check in CHECKS]


def test_one_namespace_of_it_is_fine_too() -> None:
    """With -n nothing else is needed but what is in the namespace."""
    patient = healthy()
    patient.narrow(TEAM)
    assert {finding.note.severity for finding in patient.findings()} == {Severity.OK}


def test_every_name_has_a_check() -> None:
    """The table of checks and the closed list of names are the same, in the same order."""
    assert list(CHECKS) == list(Check)


def _asked() -> list[Question]:
    return list(healthy().content)


@pytest.mark.parametrize("question", _asked(), ids=lambda question: question.path)
def test_what_may_not_be_read_is_said_and_nothing_breaks(question: Question) -> None:
    """Each answer that is forbidden leads to at least one warning that says so."""
    patient = healthy()
    patient.unreadable.add(question)
    said = [finding.note for finding in patient.findings() if finding.is_problem]
    assert said
    assert all("Can't tell" in note.message and "forbidden" in note.message for note in said)
    assert {note.severity for note in said} == {Severity.WARNING}
    assert all(note.remedy for note in said)


@pytest.mark.parametrize("question", _asked(), ids=lambda question: question.path)
def test_what_is_not_there_breaks_nothing(question: Question) -> None:
    """Each check still says something."""
    patient = healthy()
    patient.absent.add(question)
    assert {finding.check for finding in patient.findings()} == set(Check)


def test_a_cluster_of_which_nothing_is_known_has_no_ok() -> None:
    """Nothing is called fine that was not looked at, but for our own configuration."""
    patient = healthy()
    patient.content = {}
    fine = {one.check for one in patient.findings() if one.note.severity is Severity.OK}
    assert fine == {Check.CONFIGURATION}


def test_every_question_of_the_checks_is_asked() -> None:
    """Given all answers, what is to be read is exactly what a healthy cluster was made of."""
    patient = healthy()
    case = patient.case
    asked = set(questions.needs(case.answers, case.place, case.policy, ""))
    assert asked | {next(iter(patient.content))} == set(patient.content)


def test_a_configuration_that_says_all_of_kueue_needs_no_right_to_read_kueues() -> None:
    """The ConfigMap of Kueue is no right of the server then."""
    patient = healthy()
    told = replace(patient.policy, kueue=Kueue())
    with_it = set(rights.needed(patient.place, patient.policy))
    without = set(rights.needed(patient.place, told))
    assert {right.resource for right in with_it - without} == {"configmaps"}
