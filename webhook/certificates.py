"""Where the serving certificate comes from: the configuration's `certificates.source`.

Both sources have the same two methods: `run` keeps the certificate until it is cancelled, and
`problems` says why no review should be sent here.
"""

from datetime import UTC, datetime

from webhook.cluster.certificate_objects import CertificateObjects, Place
from webhook.cluster.certificates import Certificates
from webhook.http.tls import LiveTls
from webhook.pki.mounted import Mounted
from webhook.sections import CertificatesSection
from webhook.telemetry import Telemetry


def mounted(section: CertificatesSection, tls: LiveTls, telemetry: Telemetry) -> Mounted | None:
    """The files, if they are the source; what they hold is served at once. Raises NoFiles."""
    if section.source != "files":
        return None
    files = Mounted(
        section.certificate_file,
        section.key_file,
        section.terms.dns_name,
        tls.load,
        telemetry,
        check_every=section.check_interval,
        clock=_now,
    )
    files.content()
    files.look()
    return files


def self_managed(
    section: CertificatesSection, objects: CertificateObjects, tls: LiveTls, telemetry: Telemetry
) -> Certificates:
    """The Secret that the server fills itself."""
    return Certificates(
        objects,
        section.terms,
        tls.load,
        telemetry,
        check_every=section.check_interval,
        clock=_now,
    )


def place(section: CertificatesSection) -> Place:
    """Where the Secret and the registrations are."""
    return Place(
        section.namespace,
        section.secret,
        section.mutating_configuration,
        section.validating_configuration,
    )


def _now() -> datetime:
    return datetime.now(UTC)
