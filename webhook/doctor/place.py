"""Where an installation is: the names of its objects, from the configuration that it runs with."""

from dataclasses import dataclass
from typing import Final

from webhook.settings import Configuration

FILES: Final = "files"
"""The source of certificates that somebody else renews: the server needs no rights for them."""


@dataclass(frozen=True, slots=True)
class Place:
    """Names of the installation's objects; the defaults are those of manifests/base."""

    namespace: str = "kueue-steps-system"
    service: str = "kueue-steps"
    secret: str = "kueue-steps-tls"  # noqa: S105 - its name, not its content
    deployment: str = "kueue-steps"
    account: str = "kueue-steps"
    config_map: str = "kueue-steps-config"
    mutating: str = "a-kueue-steps"
    validating: str = "a-kueue-steps"
    hold_policy: str = "kueue-steps-hold"
    mints_certificates: bool = True

    @property
    def dns_name(self) -> str:
        """The name that API servers verify."""
        return f"{self.service}.{self.namespace}.svc"


def place_of(configuration: Configuration) -> Place:
    """The place that a configuration names."""
    said = configuration.model_dump().get("certificates") or {}
    given = {
        field: said.get(key)
        for field, key in (
            ("namespace", "namespace"),
            ("service", "service"),
            ("secret", "secret"),
            ("mutating", "mutating_configuration"),
            ("validating", "validating_configuration"),
        )
    }
    names = {field: name for field, name in given.items() if name}
    return Place(**names, mints_certificates=said.get("source") != FILES)
