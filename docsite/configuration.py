"""docs/reference/configuration.md: each key of the kind `Configuration`.

Types, limits and defaults come from `webhook.sections`, the sentences about keys from here.
"""

import re
import types
from collections.abc import Iterator, Mapping
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from docsite.tables import code, page, table
from manifests.configuration import sections
from webhook.sections import SelectorSection
from webhook.settings import API_VERSION, KIND, PREFIX, Configuration

INTRODUCTION: Final = f"""\
`kueue-steps serve --config FILE` reads one object of kind `{KIND}`, `{API_VERSION}`. An unknown
key stops the start and is named. [configuration.yaml](../../manifests/base/configuration.yaml) has
every key with its default; the chart takes the same keys in its value `configuration`, but for
those that its other objects decide.

```yaml
apiVersion: {API_VERSION}
kind: {KIND}
mode:
  default: whole
log:
  level: warning
```

Environment variables win over the file. Lists and selectors are written as JSON in them, such as
`["a", "b"]`.
"""

MEANINGS: Final[Mapping[str, str]] = {
    "mode.default": "What holds for parents without the annotation `kueue-steps.io/mode`.",
    "mode.allowOverride": "Whether that annotation counts.",
    "controllers.kueue": "As whom Kueue writes: only these users start a step's Job. The "
    "conditions of the registrations name them too.",
    "controllers.jobSet": "As whom JobSet writes: what these users suspend is paused.",
    "kueue.namespace": "Where Kueue runs, and its ConfigMap is.",
    "kueue.configMap": "Name of that ConfigMap.",
    "kueue.frameworks": "Kueue's `integrations.frameworks`. Unset: as its ConfigMap says.",
    "kueue.manageJobsWithoutQueueName": "The key of the same name in Kueue's configuration. Set "
    "together with `frameworks`.",
    "kueue.managedJobsNamespaceSelector": "The key of the same name in Kueue's configuration: "
    "`matchLabels` and `matchExpressions`. Only together with `frameworks`; unset, it is all but "
    "the system's namespaces then.",
    "server.host": "Address that both listeners bind; empty is every address.",
    "server.port": "Port for API servers, TLS; 0 is a free one, which is logged.",
    "server.operationsPort": "Port for probes and metrics, plain HTTP; 0 is a free one.",
    "server.maxConcurrentReviews": "Reviews that are decided at a time; one more is refused with "
    "503, and API servers send it again.",
    "server.maxBodyMemoryBytes": "Bytes of all bodies together; beyond that 503.",
    "server.patienceSeconds": "For a TLS handshake, for headers and for a body, each.",
    "server.clientAuthorityFile": "PEM file; only callers with a certificate that one of its "
    "authorities signed are heard. Unset: all are. See [security](../security.md).",
    "server.drain.quietSeconds": "How long nobody new must have come before a replica without "
    "connections ends.",
    "server.drain.longestSeconds": "Then what is open is closed.",
    "certificates.source": "`selfManaged`: the server mints and renews it. `files`: somebody else "
    "does.",
    "certificates.service": "The Service that API servers call; the certificate is for its name.",
    "certificates.namespace": "The namespace of the Service, the Secret and the server.",
    "certificates.secret": "Where authority, certificate and keys are kept (`selfManaged`).",
    "certificates.mutatingConfiguration": "The mutating registration; its `caBundle` is kept.",
    "certificates.validatingConfiguration": "The validating registration, likewise.",
    "certificates.authorityLifetime": "Of the server's own authority; renewed after two thirds.",
    "certificates.leafLifetime": "Of the serving certificate; renewed after two thirds. Not "
    "longer than `authorityLifetime`.",
    "certificates.publicationGrace": "How long after the bundle is out a leaf of a new authority "
    "is served. At most a quarter of `leafLifetime`.",
    "certificates.checkInterval": "Files, Secret and registrations are looked at as often.",
    "certificates.certificateFile": "The certificate's chain (`files`).",
    "certificates.keyFile": "Its private key (`files`).",
    "lookups.timeoutSeconds": "For one read of the API server; then the safe answer holds.",
    "lookups.cacheSeconds": "How long an answer is used again; 0 asks each time.",
    "log.level": "What is less than this is not logged; reviews are `info`.",
    "log.format": "`auto` is `console` on a terminal, else `json`.",
}

WORDS: Final[Mapping[Any, str]] = {
    SelectorSection: "label selector",
    bool: "true or false",
    float: "number",
    int: "whole number",
    str: "text",
    Path: "path",
    timedelta: "duration, such as `8760h` or `1h30m`",
}
LIMITS: Final = {
    "ge": "at least {}",
    "gt": "more than {}",
    "le": "at most {}",
    "lt": "less than {}",
}

Key = tuple[str, FieldInfo, str]
"""The path of a key, its field, and its environment variable."""


def markdown() -> str:
    """The page."""
    return page(
        "Configuration",
        "webhook/sections.py and docsite/configuration.py",
        INTRODUCTION,
        *(_section(name, model) for name, model in _models(Configuration)),
    )


def every_key() -> Iterator[Key]:
    """Every key of every section."""
    for name, model in _models(Configuration):
        yield from _keys(model, f"{name}.", f"{PREFIX}{name.upper()}__")


def _section(name: str, model: type[BaseModel]) -> str:
    documentation = re.sub(r"docs/(\S+\.md)", r"[\1](../\1)", _docstring(model))
    rows = (_row(*key) for key in every_key() if key[0].startswith(f"{name}."))
    head = ("key", "type", "default", "meaning", "variable")
    return f"## {name}\n\n{documentation}\n\n{table(head, rows)}"


def _models(model: type[BaseModel]) -> Iterator[tuple[str, type[BaseModel]]]:
    """The sections of a model, by the names that they have in the file."""
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield field.alias or name, field.annotation


def _keys(model: type[BaseModel], path: str, variable: str) -> Iterator[Key]:
    inner = dict(_models(model))
    for name, field in model.model_fields.items():
        key, named = f"{path}{field.alias}", f"{variable}{name.upper()}"
        if field.alias in inner:
            yield from _keys(inner[field.alias], f"{key}.", f"{named}__")
        else:
            yield key, field, named


def _row(key: str, field: FieldInfo, variable: str) -> tuple[str, ...]:
    limits = [
        text.format(limit)
        for part in field.metadata
        for word, text in LIMITS.items()
        if (limit := getattr(part, word, None)) is not None
    ]
    kind = ", ".join([_kind(field.annotation), *limits])
    return code(key), kind, _default(key), MEANINGS[key], code(variable)


def _default(key: str) -> str:
    found: Any = sections()
    for part in key.split("."):
        found = found.get(part, {})
    match found:
        case {}:
            return "unset"
        case list():
            return code(*found)
        case bool():
            return code(str(found).lower())
        case _:
            return code(str(found) or '""')


def _kind(annotation: Any) -> str:
    """A type in plain words."""
    if annotation in WORDS:
        return WORDS[annotation]
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return code(*parts)
    if origin in {Union, types.UnionType}:
        return _kind(parts[0])
    if origin in {tuple, frozenset}:
        return "list"
    if issubclass(annotation, StrEnum):
        return code(*annotation)
    raise TypeError(f"docsite.configuration has no words for {annotation}")


def _docstring(model: type[BaseModel]) -> str:
    paragraphs = (model.__doc__ or "").strip().split("\n\n")
    return "\n\n".join(" ".join(part.split()).replace("<", "&lt;") for part in paragraphs)
