"""Objects in files, as YAML or JSON, each with the place where it stands.

Scalars are read as the API's own tools read them: a date is a string, `1:30` is no number.
"""

import json
import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

import msgspec
import yaml

Object: TypeAlias = dict[str, Any]

STDIN: Final = "-"


class BadFile(Exception):
    """A file that holds no objects that can be read; the message names file and line."""


@dataclass(frozen=True, slots=True)
class Document:
    """One object as it was written, and where: `place` is `FILE:LINE`."""

    content: Object
    place: str

    @property
    def kind(self) -> str:
        """Its kind."""
        return str(self.content["kind"])

    @property
    def group(self) -> str:
        """Its API group, empty for the core group."""
        return str(self.content["apiVersion"]).rpartition("/")[0]

    @property
    def version(self) -> str:
        """The version of its API group."""
        return str(self.content["apiVersion"]).rpartition("/")[2]

    @property
    def name(self) -> str:
        """Its name, or the beginning of a generated one."""
        return self._said("name") or self._said("generateName")

    def namespace(self, default: str) -> str:
        """Its namespace, the default where it says none."""
        return self._said("namespace") or default

    def _said(self, key: str) -> str:
        metadata = self.content.get("metadata")
        value = metadata.get(key) if isinstance(metadata, dict) else None
        return value if isinstance(value, str) else ""


def read(file: str, stdin: Any) -> list[Document]:
    """The objects of a file, or of standard input where it is `-`. Raises BadFile."""
    name = "stdin" if file == STDIN else file
    try:
        text = (stdin.read() if file == STDIN else Path(file).read_bytes()).decode()
    except OSError as error:
        raise BadFile(f"{name} can't be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise BadFile(f"{name} is not UTF-8 text (byte {error.start + 1}).") from error
    return list(parse(text, name))


def parse(text: str, name: str) -> Iterator[Document]:
    """The objects of a text; `name` is what messages call it."""
    for content, line in _contents(text, name):
        yield from _objects(content, f"{name}:{line}")


def _objects(content: Any, place: str) -> Iterator[Document]:
    if content is None:
        return
    said = content if isinstance(content, dict) else {}
    kind, version, items = said.get("kind"), said.get("apiVersion"), said.get("items")
    if not (isinstance(kind, str) and kind and isinstance(version, str) and version):
        raise BadFile(f"{place}: this is no Kubernetes object: it needs apiVersion and kind.")
    if not kind.endswith("List") or not isinstance(items, list):
        yield Document(said, place)
        return
    for index, item in enumerate(items):
        yield from _objects(item, f"{place} items[{index}]")


def _contents(text: str, name: str) -> Iterator[tuple[Any, int]]:
    if text.lstrip().startswith(("{", "[")):
        try:
            return iter(list(_json(text)))
        except (json.JSONDecodeError, RecursionError):
            pass  # YAML may begin with a brace too, and its error names the line.
    return _yaml(text, name)


def _json(text: str) -> Iterator[tuple[Any, int]]:
    decoder, position = json.JSONDecoder(), 0
    while rest := text[position:].lstrip():
        position = len(text) - len(rest)
        content, end = decoder.raw_decode(text, position)
        yield content, text.count("\n", 0, position) + 1
        position = end


def _yaml(text: str, name: str) -> Iterator[tuple[Any, int]]:
    loader = _Loader(text)
    try:
        while loader.check_node():
            node: Any = loader.get_node()
            yield _unshared(loader.construct_document(node)), node.start_mark.line + 1
    except (yaml.YAMLError, RecursionError) as error:
        raise BadFile(_told(error, name)) from error
    finally:
        loader.dispose()


def _unshared(content: Any) -> Any:
    """The content as JSON has it: what anchors made one value is several, as once it is stored."""
    return msgspec.json.decode(msgspec.json.encode(content))


def _told(error: Exception, name: str) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or str(error)
    place = f"{name}:{mark.line + 1}" if mark else name
    return f"{place}: this is no YAML: {problem}."


class _Loader(yaml.SafeLoader):
    """Reads scalars as JSON has them, and every key as a string."""

    yaml_implicit_resolvers: dict[str, list[Any]] = {}  # noqa: RUF012 - as PyYAML has it

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> Any:  # noqa: FBT001, FBT002
        return {
            key if isinstance(key, str) else json.dumps(key): value
            for key, value in super().construct_mapping(node, deep=deep).items()
        }

    def construct_yaml_map(self, node: yaml.MappingNode) -> Generator[Object, None, None]:
        content: Object = {}
        yield content
        content.update(self.construct_mapping(node))


_Loader.add_constructor("tag:yaml.org,2002:map", _Loader.construct_yaml_map)
for tag, pattern, first in (
    (
        "bool",
        r"yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF",
        "yYnNtTfFoO",
    ),
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("int", r"[-+]?(0b[01_]+|0x[0-9a-fA-F_]+|0[0-7_]*|[1-9][0-9_]*)", "-+0123456789"),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", "-+.0123456789"),
    ("merge", r"<<", "<"),
):
    _Loader.add_implicit_resolver(
        f"tag:yaml.org,2002:{tag}", re.compile(rf"(?:{pattern})\Z"), list(first)
    )
