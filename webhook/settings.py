"""The configuration file, kind `Configuration` of config.kueue-steps.io/v1alpha1.

Precedence: environment (KUEUE_STEPS_<SECTION>__<KEY>, such as KUEUE_STEPS_LOG__LEVEL), then the
file, then the defaults below. An unknown key stops the start and is named.
"""

import os
from pathlib import Path
from typing import Any, Final, Literal

import yaml
from pydantic import Field, ValidationError
from pydantic.alias_generators import to_camel
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from webhook.rules.policy import Kueue, Policy
from webhook.rules.selectors import Selector
from webhook.sections import (
    CertificatesSection,
    ControllersSection,
    KueueSection,
    LogSection,
    LookupsSection,
    ModeSection,
    ServerSection,
)

PREFIX: Final = "KUEUE_STEPS_"
API_VERSION: Final = "config.kueue-steps.io/v1alpha1"
KIND: Final = "Configuration"


class BadConfiguration(Exception):
    """The configuration can't be used; the message names each key and what is wrong with it."""


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
            if name.startswith(PREFIX):
                _check(name)
        return _camel(super().__call__())


def _check(variable: str) -> None:
    """Raises BadConfiguration for one that names no section, or is nearly the name of a key."""
    section, marks, _ = variable.removeprefix(PREFIX).lower().partition("__")
    if marks and section not in Configuration.model_fields:
        known = ", ".join(sorted(Configuration.model_fields))
        raise BadConfiguration(f"{variable}: there is no section {section}; there are {known}")
    if not marks and (meant := _nearly().get(section)):
        raise BadConfiguration(
            f"{variable}: two underscores stand between section and key: {PREFIX}{meant}"
        )


def _nearly() -> dict[str, str]:
    """Each key with one underscore behind its section, and the variable that is meant.

    Kubernetes gives Pods variables of their Services that begin in the same way.
    """
    return {
        f"{section}_{key}": f"{section}__{key}".upper()
        for section, field in Configuration.model_fields.items()
        for key in getattr(field.annotation, "model_fields", ())
    }


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
