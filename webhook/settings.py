"""The configuration file, kind `Configuration` of config.kueue-steps.io/v1alpha1.

Precedence: environment (KUEUE_STEPS_<SECTION>__<KEY>, such as KUEUE_STEPS_LOG__LEVEL), then the
file, then the defaults below. An unknown key stops the start and is named.
"""

import os
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeAlias

import yaml
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from webhook.durations import duration
from webhook.http.intake import MEBIBYTE, Limits
from webhook.http.times import Times
from webhook.pki.rotation import Terms
from webhook.rules import names
from webhook.rules.policy import Kueue, Mode, Policy
from webhook.rules.selectors import Requirement, Selector

PREFIX: Final = "KUEUE_STEPS_"
API_VERSION: Final = "config.kueue-steps.io/v1alpha1"
KIND: Final = "Configuration"


class BadConfiguration(Exception):
    """The configuration can't be used; the message names each key and what is wrong with it."""


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


class Configuration(BaseSettings):
    """The whole file."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_nested_delimiter="__", extra="forbid", frozen=True
    )

    mode: ModeSection = ModeSection()
    controllers: ControllersSection = ControllersSection()
    kueue: KueueSection = KueueSection()
    server: ServerSection = ServerSection()
    certificates: CertificatesSection = CertificatesSection()
    lookups: LookupsSection = LookupsSection()
    log: LogSection = LogSection()
    api_version: Literal["config.kueue-steps.io/v1alpha1"] = Field(
        default="config.kueue-steps.io/v1alpha1", alias="apiVersion"
    )
    kind: Literal["Configuration"] = "Configuration"

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        *_others: PydanticBaseSettingsSource,
        **_named: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Environment over file; the file's content comes in as arguments."""
        return (_Environment(settings_cls), init_settings)

    @property
    def policy(self) -> Policy:
        """The part that the rules know."""
        return Policy(
            kueue_users=frozenset(self.controllers.kueue),
            jobset_users=frozenset(self.controllers.job_set),
            default_mode=self.mode.default,
            allow_mode_override=self.mode.allow_override,
            kueue=self._kueue,
            managed_namespaces=self._managed_namespaces,
            kueue_namespace=self.kueue.namespace,
            kueue_config_map=self.kueue.config_map,
        )

    @property
    def _managed_namespaces(self) -> Selector | None:
        said = self.kueue.managed_jobs_namespace_selector
        return said.selector if said else None

    @property
    def _kueue(self) -> Kueue | None:
        said = self.kueue
        if said.frameworks is None:
            return None
        return Kueue(said.frameworks, bool(said.manage_jobs_without_queue_name))


def load(path: Path | None) -> Configuration:
    """The configuration from a file, if one is given, and the environment.

    Raises BadConfiguration, naming every key that is unknown or has a value that can't be used.
    """
    if path is None:
        return _validated({}, "the environment")
    try:
        return parsed(path.read_bytes(), str(path))
    except OSError as error:
        raise BadConfiguration(f"{path} can't be read as YAML: {error}") from error


def parsed(text: str | bytes, source: str) -> Configuration:
    """The configuration from a file's text and the environment; `source` is its name in messages.

    Raises BadConfiguration.
    """
    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise BadConfiguration(f"{source} can't be read as YAML: {error}") from error
    if not isinstance(content, dict):
        raise BadConfiguration(f"{source} must hold one {KIND} object of {API_VERSION}.")
    if (content.get("apiVersion"), content.get("kind")) != (API_VERSION, KIND):
        raise BadConfiguration(f"{source} must say apiVersion: {API_VERSION} and kind: {KIND}.")
    return _validated(content, source)


def _validated(content: dict[str, Any], source: str) -> Configuration:
    try:
        return Configuration(**content)
    except ValidationError as error:
        lines = [f"{_key(problem)}: {_plain(problem)}" for problem in error.errors()]
        raise BadConfiguration("\n  ".join([f"Bad configuration ({source}):", *lines])) from error


class _Environment(EnvSettingsSource):
    """Environment variables, with their keys spelt as in the file."""

    def __call__(self) -> dict[str, Any]:
        for name in os.environ:
            section, marks, _ = name.removeprefix(PREFIX).lower().partition("__")
            if name.startswith(PREFIX) and marks and section not in Configuration.model_fields:
                known = ", ".join(sorted(Configuration.model_fields))
                raise BadConfiguration(f"{name}: there is no section {section}; there are {known}")
        return _camel(super().__call__())


def _camel(content: dict[str, Any]) -> dict[str, Any]:
    return {
        to_camel(key): _camel(value) if isinstance(value, dict) else value
        for key, value in content.items()
    }


def _key(problem: Any) -> str:
    return ".".join(str(part) for part in problem["loc"])


def _plain(problem: Any) -> str:
    if problem["type"] == "extra_forbidden":
        return "unknown key"
    return f"{problem['msg']} (it is {problem['input']!r})"
