"""The sections of the configuration file: their keys, types, limits and defaults.

Each gives the part of it that a room needs in that room's own words. How they come from a file and
the environment is in settings.py.
"""

from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    field_validator,
    model_validator,
)
from pydantic.alias_generators import to_camel

from webhook.durations import duration
from webhook.http.intake import MEBIBYTE, Limits
from webhook.http.times import Times
from webhook.pki.rotation import Terms
from webhook.rules import names
from webhook.rules.policy import Mode
from webhook.rules.selectors import Requirement, Selector


class _Section(BaseModel):
    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True
    )


def _duration(value: Any) -> timedelta:
    if isinstance(value, timedelta):
        return value
    found = duration(str(value))
    if not timedelta(milliseconds=100) <= found <= timedelta(days=36500):
        raise ValueError("a duration between 100ms and 876000h is needed")
    return found


Duration: TypeAlias = Annotated[timedelta, PlainValidator(_duration)]
"""A duration in Go's spelling."""


class ModeSection(_Section):
    """How parents are admitted that do not say it themselves."""

    default: Mode = Mode.AUTO
    allow_override: bool = True


class ControllersSection(_Section):
    """Exact user names of the controllers whose writes are told apart."""

    kueue: tuple[str, ...] = (names.KUEUE_USER,)
    job_set: tuple[str, ...] = tuple(sorted(names.JOBSET_USERS))


class RequirementSection(_Section):
    """One expression of a label selector."""

    key: str = Field(min_length=1)
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist"]
    values: tuple[str, ...] = ()


class SelectorSection(_Section):
    """metav1.LabelSelector, as in Kueue's own configuration."""

    match_labels: dict[str, str] = {}
    match_expressions: tuple[RequirementSection, ...] = ()

    @property
    def selector(self) -> Selector:
        """The part that the rules know."""
        return Selector(
            self.match_labels,
            [
                Requirement(one.key, one.operator, list(one.values))
                for one in self.match_expressions
            ],
        )


class KueueSection(_Section):
    """Where Kueue's own configuration is read; what is set here wins over it."""

    namespace: str = "kueue-system"
    config_map: str = "kueue-manager-config"
    frameworks: frozenset[str] | None = Field(default=None, min_length=1)
    manage_jobs_without_queue_name: bool | None = None
    managed_jobs_namespace_selector: SelectorSection | None = None

    @field_validator("frameworks")
    @classmethod
    def _known(cls, frameworks: frozenset[str] | None) -> frozenset[str] | None:
        if unknown := sorted((frameworks or frozenset()) - names.FRAMEWORKS):
            known = ", ".join(sorted(names.FRAMEWORKS))
            raise ValueError(
                f"Kueue has no integration {', '.join(unknown)}. Leave out what is newer than "
                f"{known}: only batch/job and those of TrainJob and JobSet decide anything here"
            )
        return frameworks

    @model_validator(mode="after")
    def _said_together(self) -> "KueueSection":
        if (self.frameworks is None) != (self.manage_jobs_without_queue_name is None):
            raise ValueError("frameworks and manageJobsWithoutQueueName are set together or not")
        if self.managed_jobs_namespace_selector and self.frameworks is None:
            raise ValueError("managedJobsNamespaceSelector is set together with frameworks")
        return self


class DrainSection(_Section):
    """How long a replica goes on after SIGTERM, until nobody is connected any more.

    For `quietSeconds` nobody new must have come. `longestSeconds` is longer than the 90 s for
    which API servers keep idle connections, and terminationGracePeriodSeconds is longer still.
    """

    quiet_seconds: float = Field(default=Times.quiet, ge=0)
    longest_seconds: float = Field(default=Times.longest, ge=0)

    @model_validator(mode="after")
    def _in_order(self) -> "DrainSection":
        if self.quiet_seconds > self.longest_seconds:
            raise ValueError("quietSeconds must not be longer than longestSeconds")
        return self

    @property
    def times(self) -> Times:
        """The part that the drain knows."""
        return Times(self.quiet_seconds, self.longest_seconds)


class ServerSection(_Section):
    """The two listeners. An empty host is every address, port 0 a free port, which is logged.

    At most `maxConcurrentReviews` wait for the cluster, and all bodies together take
    `maxBodyMemoryBytes`; what is more is refused with 503, and API servers send it again. A TLS
    handshake, headers and a body have `patienceSeconds` each. See docs/how-to/high-availability.md.
    """

    host: str = ""
    port: int = Field(default=9443, ge=0, le=65535)
    operations_port: int = Field(default=8080, ge=0, le=65535)
    max_concurrent_reviews: int = Field(default=Limits.reviews, ge=1)
    max_body_memory_bytes: int = Field(default=Limits.body_bytes, ge=7 * MEBIBYTE)
    patience_seconds: float = Field(default=Limits.body_seconds, gt=0)
    client_authority_file: Path | None = None
    drain: DrainSection = DrainSection()

    @property
    def limits(self) -> Limits:
        """The part that the endpoint knows."""
        return Limits(
            self.max_concurrent_reviews, self.max_body_memory_bytes, self.patience_seconds
        )


class CertificatesSection(_Section):
    """Where the serving certificate comes from; durations are written as "8760h" or "1h30m".

    `selfManaged`: the server mints it, keeps it in `secret` and its authority in the caBundle of
    both configurations, and renews each at two thirds of its lifetime. It goes over to a leaf of a
    new authority `publicationGrace` after the bundle is out. `files`: somebody else (cert-manager)
    renews `certificateFile` and `keyFile`, and keeps the caBundle. Either way the certificate must
    be for <service>.<namespace>.svc; everything is looked at every `checkInterval` at least.
    """

    source: Literal["selfManaged", "files"] = "selfManaged"
    service: str = "kueue-steps"
    namespace: str = "kueue-steps-system"
    secret: str = "kueue-steps-tls"  # noqa: S105 - the name of one
    mutating_configuration: str = "a-kueue-steps"
    validating_configuration: str = "a-kueue-steps"
    authority_lifetime: Duration = timedelta(days=365)
    leaf_lifetime: Duration = timedelta(days=90)
    publication_grace: Duration = timedelta(seconds=5)
    check_interval: Duration = timedelta(seconds=10)
    certificate_file: Path = Path("/etc/kueue-steps/tls/tls.crt")
    key_file: Path = Path("/etc/kueue-steps/tls/tls.key")

    @model_validator(mode="after")
    def _leaf_within_authority(self) -> "CertificatesSection":
        if self.leaf_lifetime > self.authority_lifetime:
            raise ValueError("leafLifetime must not be longer than authorityLifetime")
        if self.publication_grace * 4 > self.leaf_lifetime:
            raise ValueError("publicationGrace must not be longer than a quarter of leafLifetime")
        return self

    @property
    def terms(self) -> Terms:
        """What the server mints its own certificates by."""
        return Terms(
            f"{self.service}.{self.namespace}.svc",
            self.authority_lifetime,
            self.leaf_lifetime,
            self.publication_grace,
        )


class LookupsSection(_Section):
    """Reads of the API server while a review waits: up to four, one after another, in 5 s."""

    timeout_seconds: float = Field(default=1.0, gt=0, le=1)
    cache_seconds: float = Field(default=10.0, ge=0)


class LogSection(_Section):
    """Logs, on standard error."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    format: Literal["json", "console", "auto"] = "auto"
