"""Certificates: the one that is served, and the authorities that API servers verify it with."""

import base64
import binascii
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from cryptography import x509
from cryptography.x509 import verification

from webhook.doctor import questions
from webhook.doctor.case import CantTell, Case
from webhook.doctor.findings import Note, error, info, warning
from webhook.doctor.place import Place
from webhook.doctor.registrations import registrations
from webhook.pki import trust
from webhook.pki.mint import Pair
from webhook.pki.trust import Certificates

SOON: Final = timedelta(days=7)
LOG: Final = (
    "A server that runs mends this in seconds; see its log (event certificate) for why not."
)
RENEW: Final = "Renew it where it comes from, such as cert-manager"
TRUST: Final = "Let its issuer put the authority that signed the served certificate into caBundle."


def bad_certificate(case: Case) -> Iterator[Note]:
    """The certificate in the Secret: readable, in its time, with the Service's name and its key."""
    subject = f"Secret {case.place.namespace}/{case.place.secret}"
    secret = case.find(questions.secret(case.place))
    if secret is None:
        yield from _no_secret(subject, case)
        return
    chain = _chain(secret)
    if not chain:
        yield error(subject, "Its tls.crt holds no certificate in PEM.", _renew(case.place))
        return
    yield from _bad_dates(subject, chain[0], case)
    if not trust.is_for(chain[0], case.place.dns_name):
        yield error(
            subject,
            f"The certificate is not for {case.place.dns_name}, the name that API servers verify.",
            _renew(case.place),
        )
    if trust.mismatch(Pair(_decoded_of(secret, "tls.crt"), _decoded_of(secret, "tls.key"))):
        yield error(subject, "Its tls.key does not belong to its tls.crt.", _renew(case.place))


def untrusted(case: Case) -> Iterator[Note]:
    """The caBundle of each entry: certificates, in their time, that verify what is served."""
    for one in registrations(case):
        bundles: dict[str, str] = {}
        for name, entry in one.entries.items():
            bundles.setdefault(entry["clientConfig"].get("caBundle") or "", name)
        for bundle, name in bundles.items():
            yield from _bad_bundle(one.subject, name, bundle, case)


def _bad_bundle(subject: str, name: str, bundle: str, case: Case) -> Iterator[Note]:
    remedy = LOG if case.place.mints_certificates else TRUST
    if not bundle:
        yield error(subject, f"{name} has no caBundle, so no call reaches us.", remedy)
        return
    authorities = trust.certificates(_decoded(bundle))
    if not authorities:
        yield error(subject, f"The caBundle of {name} holds no certificate in PEM.", remedy)
        return
    current = [item for item in authorities if case.now <= item.not_valid_after_utc]
    if not current:
        yield error(subject, f"Every certificate in the caBundle of {name} has expired.", remedy)
        return
    try:
        secret = case.find(questions.secret(case.place))
    except CantTell as why:
        message = f"Can't tell whether its caBundle verifies the served certificate: {why}."
        yield warning(subject, message, "Run doctor with the right to read that Secret.")
        return
    chain = _chain(secret) if secret else ()
    if chain and not _verifies(current, chain, case):
        yield error(
            subject,
            f"The caBundle of {name} does not verify the certificate in Secret "
            f"{case.place.namespace}/{case.place.secret}, so calls of the API server fail.",
            remedy,
        )


def _no_secret(subject: str, case: Case) -> Iterator[Note]:
    deployment = case.find(questions.deployment(case.place))
    if deployment is not None and (case.place.mints_certificates or _mounts(deployment, case)):
        message = "It does not exist, so the server has no certificate to serve."
        yield error(subject, message, _renew(case.place))
    else:
        yield info(subject, "Can't tell when the served certificate ends: there is no such Secret.")


def _bad_dates(subject: str, leaf: x509.Certificate, case: Case) -> Iterator[Note]:
    ends, begins, now = leaf.not_valid_after_utc, leaf.not_valid_before_utc, case.now
    if now > ends:
        message = f"The certificate expired on {ends:%Y-%m-%d %H:%M} UTC."
        yield error(subject, message, _renew(case.place))
    elif now < begins:
        message = f"The certificate is valid only from {begins:%Y-%m-%d %H:%M} UTC on."
        yield error(subject, message, "Check the clocks, or renew the certificate.")
    elif now > ends - _soon(ends - begins, case.place):
        message = f"The certificate expires soon, on {ends:%Y-%m-%d %H:%M} UTC."
        yield warning(subject, message, _renew(case.place))


def _soon(lifetime: timedelta, place: Place) -> timedelta:
    """The server renews its own at two thirds of their lifetime; others decide for themselves."""
    return lifetime / 5 if place.mints_certificates else min(SOON, lifetime / 5)


def _renew(place: Place) -> str:
    return LOG if place.mints_certificates else f"{RENEW}, for the name {place.dns_name}."


def _mounts(deployment: Mapping[str, Any], case: Case) -> bool:
    volumes = deployment["spec"]["template"]["spec"].get("volumes") or ()
    return case.place.secret in {(one.get("secret") or {}).get("secretName") for one in volumes}


def _chain(secret: Mapping[str, Any]) -> Certificates:
    return trust.certificates(_decoded_of(secret, "tls.crt"))


def _decoded_of(secret: Mapping[str, Any], key: str) -> bytes:
    return _decoded((secret.get("data") or {}).get(key) or "")


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        return b""


def _verifies(authorities: Sequence[x509.Certificate], chain: Certificates, case: Case) -> bool:
    """As Go does it: extensions that only the web's rules ask for may lack."""
    policy, agnostic = verification.ExtensionPolicy, verification.Criticality.AGNOSTIC
    verifier = (
        verification.PolicyBuilder()
        .store(verification.Store(list(authorities)))
        .time(case.now)
        .extension_policies(
            ca_policy=policy.permit_all().require_present(x509.BasicConstraints, agnostic, None),
            ee_policy=policy.permit_all().require_present(
                x509.SubjectAlternativeName, agnostic, None
            ),
        )
        .build_server_verifier(x509.DNSName(case.place.dns_name))
    )
    try:
        verifier.verify(chain[0], list(chain[1:]))
    except verification.VerificationError:
        return chain[0] in authorities
    return True
