"""Where an installation is: the names of its objects, from the configuration that it runs with."""

from dataclasses import dataclass
from typing import Final

from webhook.sections import CertificatesSection

HOLD_POLICIES: Final = ("kueue-steps-hold-created", "kueue-steps-hold")
"""The policies of the component in-process-hold, cluster-wide and so one of each."""


@dataclass(frozen=True, slots=True)
class Place:
    """Names of the installation's objects; those with a default can't be configured."""

    namespace: str
    service: str
    dns_name: str
    """What API servers verify."""
    secret: str
    mutating: str
    validating: str
    mints_certificates: bool
    deployment: str = "kueue-steps"
    account: str = "kueue-steps"
    config_map: str = "kueue-steps-config"


def place_of(section: CertificatesSection) -> Place:
    """The place that a configuration names."""
    return Place(
        namespace=section.namespace,
        service=section.service,
        dns_name=section.terms.dns_name,
        secret=section.secret,
        mutating=section.mutating_configuration,
        validating=section.validating_configuration,
        mints_certificates=section.source == "selfManaged",
    )


SHIPPED: Final = place_of(CertificatesSection())
