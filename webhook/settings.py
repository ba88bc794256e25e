"""The configuration file, kind `Configuration` of config.kueue-steps.io/v1alpha1.

Precedence: environment (KUEUE_STEPS_<SECTION>__<KEY>, such as KUEUE_STEPS_LOG__LEVEL), then the
file, then the defaults below. An unknown key stops the start and is named.
"""

from pathlib import Path
from typing import Any, Final, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from webhook.rules import names
from webhook.rules.policy import Kueue, Mode, Policy

API_VERSION: Final = "config.kueue-steps.io/v1alpha1"
KIND: Final = "Configuration"


class BadConfiguration(Exception):
    """The configuration can't be used; the message names each key and what is wrong with it."""


class _Section(BaseModel):
    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True
    )


class ModeSection(_Section):
    """How parents are admitted that do not say it themselves."""

    default: Mode = Mode.AUTO
    allow_override: bool = True


class ControllersSection(_Section):
    """Exact user names of the controllers whose writes are told apart."""

    kueue: tuple[str, ...] = (names.KUEUE_USER,)
    job_set: tuple[str, ...] = tuple(sorted(names.JOBSET_USERS))


class KueueSection(_Section):
    """Where Kueue's own configuration is read; what is set here wins over it."""

    namespace: str = "kueue-system"
    config_map: str = "kueue-manager-config"
    frameworks: frozenset[str] | None = Field(default=None, min_length=1)
    manage_jobs_without_queue_name: bool | None = None

    @model_validator(mode="after")
    def _said_together(self) -> "KueueSection":
        if (self.frameworks is None) != (self.manage_jobs_without_queue_name is None):
            raise ValueError("frameworks and manageJobsWithoutQueueName are set together or not")
        return self


class ServerSection(_Section):
    """The two listeners. An empty host is every address, port 0 a free port, which is logged."""

    host: str = ""
    port: int = Field(default=9443, ge=0, le=65535)
    operations_port: int = Field(default=8080, ge=0, le=65535)
    certificate_file: Path = Path("/etc/kueue-steps/tls/tls.crt")
    key_file: Path = Path("/etc/kueue-steps/tls/tls.key")


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
        env_prefix="KUEUE_STEPS_", env_nested_delimiter="__", extra="forbid", frozen=True
    )

    mode: ModeSection = ModeSection()
    controllers: ControllersSection = ControllersSection()
    kueue: KueueSection = KueueSection()
    server: ServerSection = ServerSection()
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
            kueue_namespace=self.kueue.namespace,
            kueue_config_map=self.kueue.config_map,
        )

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
    try:
        content = yaml.safe_load(path.read_bytes()) if path else {}
    except (OSError, yaml.YAMLError) as error:
        raise BadConfiguration(f"{path} can't be read as YAML: {error}") from error
    if not isinstance(content, dict):
        raise BadConfiguration(f"{path} must hold one {KIND} object of {API_VERSION}.")
    if path and (content.get("apiVersion"), content.get("kind")) != (API_VERSION, KIND):
        raise BadConfiguration(f"{path} must say apiVersion: {API_VERSION} and kind: {KIND}.")
    try:
        return Configuration(**content)
    except ValidationError as error:
        source = path or "the environment"
        lines = [f"{_key(problem)}: {_plain(problem)}" for problem in error.errors()]
        raise BadConfiguration("\n  ".join([f"Bad configuration ({source}):", *lines])) from error


class _Environment(EnvSettingsSource):
    """Environment variables, with their keys spelt as in the file."""

    def __call__(self) -> dict[str, Any]:
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
