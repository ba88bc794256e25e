"""Harm to certificates and the trust in them; one thing each."""

import base64
from dataclasses import replace
from datetime import timedelta

from tests.doctor import patient as clinic
from tests.doctor.patient import NOW, PLACE, STRANGER, Break, Expected, Patient
from webhook.doctor import questions
from webhook.doctor.findings import Check, Severity
from webhook.pki.mint import mint_authority

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO
DEPLOYMENT = questions.deployment(PLACE)


def _renew_elsewhere(patient: Patient) -> None:
    patient.place = replace(patient.place, mints_certificates=False)


def _in_a_fortnight(patient: Patient) -> None:
    ninety = timedelta(days=90)
    patient.serve(clinic.leaf(lifetime=ninety, now=NOW - ninety + timedelta(days=14)))


def _renew_elsewhere_in_a_fortnight(patient: Patient) -> None:
    _renew_elsewhere(patient)
    _in_a_fortnight(patient)


def _mount_nothing(patient: Patient) -> None:
    _renew_elsewhere(patient)
    patient.absent.add(questions.secret(PLACE))


def _mount_the_missing(patient: Patient) -> None:
    _mount_nothing(patient)
    volume = {"name": "tls", "secret": {"secretName": PLACE.secret}}
    patient.content[DEPLOYMENT]["spec"]["template"]["spec"]["volumes"] = [volume]


CERTIFICATES: dict[str, tuple[Break, list[Expected]]] = {
    "no caBundle": (
        lambda p: p.trust(""),
        [(Check.REGISTRATION_TRUST, ERROR, "has no caBundle")] * 2,
    ),
    "a caBundle that is no PEM": (
        lambda p: p.trust(base64.b64encode(b"nonsense").decode()),
        [(Check.REGISTRATION_TRUST, ERROR, "holds no certificate")] * 2,
    ),
    "a caBundle that has expired": (
        lambda p: p.trust(
            base64.b64encode(
                mint_authority(
                    "old", now=NOW - timedelta(days=9), lifetime=timedelta(days=1)
                ).certificate
            ).decode()
        ),
        [(Check.REGISTRATION_TRUST, ERROR, "has expired")] * 2,
    ),
    "C22: a caBundle of somebody else": (
        lambda p: p.trust(base64.b64encode(STRANGER.certificate).decode()),
        [(Check.REGISTRATION_TRUST, ERROR, "does not verify")] * 2,
    ),
    "C22: the old authority beside the new one": (
        lambda p: p.trust(
            base64.b64encode(STRANGER.certificate + clinic.AUTHORITY.certificate).decode()
        ),
        [],
    ),
    "a certificate that has expired": (
        lambda p: p.serve(clinic.expired()),
        [
            *[(Check.REGISTRATION_TRUST, ERROR, "does not verify")] * 2,
            (Check.CERTIFICATE, ERROR, "expired on 2026-11-29 23:00 UTC"),
        ],
    ),
    "a certificate that expires in three days": (
        lambda p: p.serve(clinic.leaf(lifetime=timedelta(days=3), now=NOW - timedelta(days=2))),
        [],
    ),
    "a certificate of a year that expires in three days": (
        lambda p: p.serve(clinic.leaf(lifetime=timedelta(days=365), now=NOW - timedelta(days=362))),
        [(Check.CERTIFICATE, WARNING, "expires soon, on 2026-12-03")],
    ),
    "a certificate for tomorrow": (
        lambda p: p.serve(clinic.leaf(now=NOW + timedelta(days=1))),
        [
            *[(Check.REGISTRATION_TRUST, ERROR, "does not verify")] * 2,
            (Check.CERTIFICATE, ERROR, "valid only from"),
        ],
    ),
    "a certificate for another Service": (
        lambda p: p.serve(clinic.leaf(name="other.kueue-steps-system.svc")),
        [
            *[(Check.REGISTRATION_TRUST, ERROR, "does not verify")] * 2,
            (Check.CERTIFICATE, ERROR, "not for kueue-steps.kueue-steps-system.svc"),
        ],
    ),
    "a certificate for every Service of the namespace, which the server takes": (
        lambda p: p.serve(clinic.leaf(name="*.kueue-steps-system.svc")),
        [],
    ),
    "C22: a key of another certificate": (
        lambda p: p.serve(clinic.renamed(clinic.leaf(), clinic.leaf())),
        [(Check.CERTIFICATE, ERROR, "tls.key does not belong")],
    ),
    "a Secret with nothing in it": (
        lambda p: p.content[questions.secret(PLACE)].clear(),
        [(Check.CERTIFICATE, ERROR, "holds no certificate")],
    ),
    "no Secret, and a Deployment that waits for it": (
        lambda p: p.absent.add(questions.secret(PLACE)),
        [(Check.CERTIFICATE, ERROR, "no certificate to serve")],
    ),
    "a certificate of ours that should have been renewed": (
        _in_a_fortnight,
        [(Check.CERTIFICATE, WARNING, "expires soon")],
    ),
    "a certificate that somebody else renews in time": (_renew_elsewhere_in_a_fortnight, []),
    "files of another Secret": (
        _mount_nothing,
        [(Check.CERTIFICATE, INFO, "Can't tell when the served certificate ends")],
    ),
    "files of a Secret that is not there": (
        _mount_the_missing,
        [(Check.CERTIFICATE, ERROR, "no certificate to serve")],
    ),
}
