"""The configuration as `webhook.settings` defines it: its defaults as YAML, its schema as JSON."""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from enum import StrEnum
from typing import Any, Final, Literal, get_args, get_origin

import yaml
from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

from webhook.settings import Configuration

FIXED_BY_THE_CHART: Final = {
    "server": {
        "host",
        "port",
        "operationsPort",
        "clientAuthorityFile",
        "certificateFile",
        "keyFile",
    },
    "certificates": {
        "source",
        "secret",
        "service",
        "namespace",
        "mutatingConfiguration",
        "validatingConfiguration",
        "certificateFile",
        "keyFile",
    },
}
"""Keys, by section, that its other objects decide; the rest of the configuration is free."""

DURATION: Final = r"^(\d+(\.\d+)?(ms|h|m|s))+$"

Sections = dict[str, dict[str, Any]]


def sections() -> Sections:
    """Every key with its default, but for those that are unset by default."""
    dumped = Configuration().model_dump(by_alias=True, exclude_none=True)
    return {name: _plain(keys) for name, keys in dumped.items() if isinstance(keys, dict)}


def free_sections() -> Sections:
    """What the chart leaves to its values."""
    free = {
        name: {key: value for key, value in keys.items() if not _is_fixed(name, key)}
        for name, keys in sections().items()
    }
    return {name: keys for name, keys in free.items() if keys}


def commented(content: Sections) -> str:
    """Each section as YAML, beneath what its class says of it, choices beside their keys."""
    return "".join("".join(_commented(name, keys)) for name, keys in content.items())


def definitions() -> dict[str, Any]:
    """JSON schemas by name: `Configuration`, as far as the chart leaves it free, and its parts."""
    model = Configuration.model_json_schema(by_alias=True, schema_generator=_Schema)
    parts: dict[str, Any] = model.pop("$defs")
    for key in ("apiVersion", "kind"):
        del model["properties"][key]
    for section, fixed in FIXED_BY_THE_CHART.items():
        properties = parts[_section(section).__name__]["properties"]
        for key in fixed & properties.keys():
            del properties[key]
    return parts | {"Configuration": model}


def dumped(content: Any) -> str:
    """As YAML, in the order given."""
    return yaml.dump(content, Dumper=_Dumper, sort_keys=False, width=100, allow_unicode=True)


def _commented(name: str, keys: Mapping[str, Any]) -> Iterator[str]:
    section = _section(name)
    lines = (section.__doc__ or "").strip().splitlines()
    yield from (f"# {line.strip()}\n" for line in lines if line.strip())
    text = dumped({name: keys})
    for field in section.model_fields.values():
        if choices := _choices(field.annotation):
            line = f"  {field.alias}: {_plain(field.default)}\n"
            text = text.replace(line, f"{line.rstrip()} # {' | '.join(choices)}\n")
    yield text


def _choices(annotation: Any) -> tuple[str, ...]:
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    if isinstance(annotation, type) and issubclass(annotation, StrEnum):
        return tuple(annotation)
    return ()


def _section(name: str) -> type[BaseModel]:
    for field, information in Configuration.model_fields.items():
        if name in {field, information.alias} and isinstance(information.annotation, type):
            return information.annotation
    raise LookupError(name)


def _is_fixed(section: str, key: str) -> bool:
    return key in FIXED_BY_THE_CHART.get(section, ())


def _plain(value: Any) -> Any:
    """The value as one writes it in the file."""
    match value:
        case dict():
            return {key: _plain(item) for key, item in value.items()}
        case tuple():
            return [_plain(item) for item in value]
        case timedelta():
            return _spelt(value)
        case bool() | int() | float():
            return value
        case _:
            return str(value)


def _spelt(value: timedelta) -> str:
    """As Go spells durations: in hours where it can be."""
    hours, rest = divmod(value, timedelta(hours=1))
    return f"{value.total_seconds():g}s" if rest else f"{hours}h"


class _Schema(GenerateJsonSchema):
    """Types and limits only: values.yaml says the defaults, and keys are their own titles."""

    def default_schema(self, schema: Any) -> JsonSchemaValue:
        """The schema without the default."""
        return self.generate_inner(schema["schema"])

    def function_plain_schema(self, schema: Any) -> JsonSchemaValue:  # noqa: ARG002
        """The only values that are read by a function are durations."""
        return {"type": "string", "pattern": DURATION}

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002
        """Never."""
        return False


class _Dumper(yaml.SafeDumper):
    """Indents lists, as every other manifest does."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002
        """Never without indentation."""
        super().increase_indent(flow, False)
