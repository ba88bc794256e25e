"""Objects in files: where each stands, how scalars are read, what is no object."""

import io
from pathlib import Path
from typing import Any

import pytest

from webhook.preview.documents import BadFile, Document, parse, read

HEAD = "apiVersion: v1\nkind: ConfigMap\n"
JSON = '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "%s"}}'

PLACES = {
    "one document": (HEAD, ["f:1"]),
    "comments and empty documents come before": (f"# first\n---\n# second\n---\n{HEAD}", ["f:5"]),
    "several documents": (f"{HEAD}---\n{HEAD}---\n{HEAD}", ["f:1", "f:4", "f:7"]),
    "a list": (
        "apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: A}, {apiVersion: v1, kind: B}]",
        ["f:1 items[0]", "f:1 items[1]"],
    ),
    "JSON": (JSON % "a", ["f:1"]),
    "JSON after JSON, as jq writes it": (f"{JSON % 'a'}\n\n{JSON % 'b'}\n", ["f:1", "f:3"]),
    "JSON with tabs": ('{\n\t"apiVersion": "v1",\n\t"kind": "A"\n}', ["f:1"]),
    "JSON in several YAML documents": (f"{JSON % 'a'}\n---\n{JSON % 'b'}\n", ["f:1", "f:3"]),
    "nothing": ("", []),
    "only comments": ("# nothing\n---\n", []),
}
SCALARS = {
    "a date": ("2026-01-02", "2026-01-02"),
    "a time": ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"),
    "minutes": ("1:30", "1:30"),
    "a whole number": ("12", 12),
    "a fraction": ("1.5", 1.5),
    "an exponent": ("1e3", 1000.0),
    "octal": ("0644", 420),
    "true": ("yes", True),
    "quoted": ('"12"', "12"),
    "a quantity": ("500m", "500m"),
    "nothing": ("", None),
    "a version": ("1.2.3", "1.2.3"),
    "a number as a key": ("{8080: http}", {"8080": "http"}),
    "a truth as a key": ("{on: push}", {"true": "push"}),
    "an anchor": ("[&a {b: 1}, *a]", [{"b": 1}, {"b": 1}]),
    "a merge": ("{<<: {b: 1}, c: 2}", {"b": 1, "c": 2}),
}
BAD = {
    "a tab": ("apiVersion: v1\nkind: A\n\tb: 1\n", "f:3: this is no YAML: "),
    "a bracket that stays open": ("a: 1\nb: [1\nc: 2\n", "f:3: this is no YAML: "),
    "JSON that ends too early": ('{"apiVersion": "v1",\n "kind": ', "f:2: this is no YAML: "),
    "a tag that nobody knows": (f"{HEAD}data: !secret a\n", "f:3: this is no YAML: "),
    "an anchor that there is not": (f"{HEAD}data: *a\n", "f:3: this is no YAML: "),
    "no kind": (f"{HEAD}---\napiVersion: v1\n", "f:4: this is no Kubernetes object"),
    "a text": ("hello\n", "f:1: this is no Kubernetes object"),
    "a list of YAML": ("- a\n", "f:1: this is no Kubernetes object"),
    "a list whose item is none": (
        "apiVersion: v1\nkind: List\nitems: [a]\n",
        "f:1 items[0]: this is no Kubernetes object",
    ),
    "a key that is a map": ("apiVersion: v1\n? {a: 1}\n: b\n", "f:2: this is no YAML: "),
}


@pytest.mark.parametrize(("text", "places"), PLACES.values(), ids=PLACES.keys())
def test_each_object_has_its_place(text: str, places: list[str]) -> None:
    """File and line, and the position in a list."""
    assert [document.place for document in parse(text, "f")] == places


@pytest.mark.parametrize(("text", "value"), SCALARS.values(), ids=SCALARS.keys())
def test_scalars_are_read_as_kubectl_reads_them(text: str, value: Any) -> None:
    """Nothing is taken for a date or for a number in base 60."""
    [document] = parse(f"{HEAD}data: {text}\n", "f")
    assert document.content["data"] == value


@pytest.mark.parametrize(("text", "message"), BAD.values(), ids=BAD.keys())
def test_what_is_no_object_is_refused_with_its_line(text: str, message: str) -> None:
    """The message begins with file and line."""
    with pytest.raises(BadFile) as caught:
        list(parse(text, "f"))
    assert str(caught.value).startswith(message)


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    """The first byte that is wrong is named."""
    path = tmp_path / "binary"
    path.write_bytes(b"ab\xff")
    with pytest.raises(BadFile, match=r"binary is not UTF-8 text \(byte 3\)"):
        read(str(path), io.BytesIO())


def test_a_folder_is_refused(tmp_path: Path) -> None:
    """In the words of the operating system."""
    with pytest.raises(BadFile, match="can't be read: Is a directory"):
        read(str(tmp_path), io.BytesIO())


def test_names_come_from_the_metadata_where_they_are_texts() -> None:
    """Whatever is written there, a document has a name and a namespace."""
    odd: list[dict[str, Any]] = [
        {},
        {"metadata": None},
        {"metadata": {"name": 5, "namespace": ["a"]}},
    ]
    for content in odd:
        document = Document({"apiVersion": "v1", "kind": "A", **content}, "f:1")
        assert (document.name, document.namespace("team-a")) == ("", "team-a")
