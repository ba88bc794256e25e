"""One thing broken in a healthy cluster, and exactly what the doctor makes of it."""

import pytest

from tests.doctor.harm_around import NEIGHBOURS
from tests.doctor.harm_certificates import CERTIFICATES
from tests.doctor.harm_inside import REGISTRATIONS, SERVER
from tests.doctor.harm_users import USERS
from tests.doctor.health import healthy
from tests.doctor.patient import Break, Expected
from webhook.doctor.findings import Check, Severity

EVERY = REGISTRATIONS | CERTIFICATES | SERVER | NEIGHBOURS | USERS


@pytest.mark.parametrize(("harm", "expected"), EVERY.values(), ids=EVERY.keys())
def test_one_thing_broken_is_found_and_nothing_else(harm: Break, expected: list[Expected]) -> None:
    """The findings that are not ok are exactly these, each with words on what is wrong."""
    patient = healthy()
    harm(patient)
    found = [one for one in patient.findings() if one.note.severity is not Severity.OK]
    assert [(one.check, one.note.severity) for one in found] == [
        (check, severity) for check, severity, _ in expected
    ]
    for one, (_, _, words) in zip(found, expected, strict=True):
        assert words in one.note.message
        assert one.note.message.endswith(".")
        assert one.note.remedy or not one.is_problem


def test_every_check_is_broken_once() -> None:
    """No check is without a case that it finds."""
    assert {check for _, expected in EVERY.values() for check, _, _ in expected} == set(Check)
