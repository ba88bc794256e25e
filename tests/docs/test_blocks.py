"""Blocks of YAML, JSON and shell in the documentation are what they look like."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from manifests.configuration import sections
from tests.docs.github import ROOT, Document, Fence, documents
from webhook.settings import API_VERSION, KIND, BadConfiguration, parsed

BLOCKS = [
    (document, fence)
    for document in documents()
    for fence in document.fences
    if fence.language in {"bash", "json", "yaml"}
]


def _problems(fence: Fence) -> Iterator[str]:
    if fence.language == "bash":
        yield from _shell_problems(fence.text)
        return
    try:
        loaded = json.loads if fence.language == "json" else yaml.safe_load_all
        contents = loaded(fence.text)
        contents = [contents] if fence.language == "json" else list(contents)
    except (ValueError, yaml.YAMLError) as error:
        yield f"it can't be read: {error}"
        return
    for content in contents:
        if isinstance(content, dict):
            yield from _object_problems(content)
            yield from _configuration_problems(content)


def _shell_problems(text: str) -> Iterator[str]:
    """A script is only read, not run."""
    command = ["bash", "-n", "-c", text]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode:
        yield f"it is no shell script: {run.stderr}"


def _object_problems(content: dict[str, Any]) -> Iterator[str]:
    """Whoever says one of apiVersion and kind means an object, and objects have names."""
    if not {"apiVersion", "kind"} & content.keys():
        return
    yield from (f"it has no {key}" for key in ("apiVersion", "kind") if not content.get(key))
    metadata = content.get("metadata") or {}
    is_file = "config." in content.get("apiVersion", "")
    if not is_file and not {"name", "generateName"} & metadata.keys():
        yield "it has no metadata.name"


def _configuration_problems(content: dict[str, Any]) -> Iterator[str]:
    """Whatever has sections of our configuration alone is one that the server takes."""
    if content.get("apiVersion") == API_VERSION or content.keys() <= sections().keys():
        whole = {"apiVersion": API_VERSION, "kind": KIND, **content}
        try:
            parsed(yaml.safe_dump(whole), "it")
        except BadConfiguration as error:
            yield str(error)


@pytest.mark.parametrize(
    ("document", "fence"),
    BLOCKS,
    ids=[f"{document.path.relative_to(ROOT)}:{fence.line}" for document, fence in BLOCKS],
)
def test_a_block_is_what_it_looks_like(document: Document, fence: Fence) -> None:
    """It can be read; objects are whole; configurations are taken."""
    assert list(_problems(fence)) == []


def test_there_are_blocks_to_look_at() -> None:
    """Objects, configurations and other fragments."""
    assert len(BLOCKS) > 8


JOB = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\n"
FINE = {
    "an object": ("yaml", JOB),
    "two objects": ("yaml", f"{JOB}---\n{JOB}"),
    "a generated name": ("yaml", "apiVersion: v1\nkind: Pod\nmetadata: {generateName: a-}\n"),
    "a file of somebody's": (
        "yaml",
        "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n",
    ),
    "a fragment": ("yaml", "spec:\n  suspend: true\n"),
    "a part of our configuration": ("yaml", "log: {level: debug}\n"),
    "JSON": ("json", '{"a": [1]}'),
    "a script": ("bash", "for name in a b; do\n  echo $name\ndone\n"),
}
WRONG = {
    "no YAML": ("yaml", "a: [\n", "can't be read"),
    "no JSON": ("json", "{'a': 1}", "can't be read"),
    "no script": ("bash", "for name in a b; do\n", "no shell script"),
    "an object without a kind": ("yaml", "apiVersion: v1\nmetadata: {name: a}\n", "no kind"),
    "an object without a version": ("yaml", "kind: Job\nmetadata: {name: a}\n", "no apiVersion"),
    "an object without a name": ("yaml", "apiVersion: v1\nkind: Pod\n", "no metadata.name"),
    "the second of two": ("yaml", f"{JOB}---\nkind: Job\n", "no apiVersion"),
    "an unknown key of ours": ("yaml", "log: {levl: debug}\n", "log.levl: unknown key"),
    "an unknown section": (
        "yaml",
        f"apiVersion: {API_VERSION}\nkind: {KIND}\nlogs: {{}}\n",
        "logs: unknown key",
    ),
}


@pytest.mark.parametrize(("language", "text"), FINE.values(), ids=FINE.keys())
def test_what_is_right_passes(language: str, text: str) -> None:
    """No finding where there is nothing to find."""
    assert list(_problems(Fence(language, text, 1))) == []


@pytest.mark.parametrize(("language", "text", "problem"), WRONG.values(), ids=WRONG.keys())
def test_what_is_wrong_is_found(language: str, text: str, problem: str) -> None:
    """Each is told in one sentence."""
    assert problem in "\n".join(_problems(Fence(language, text, 1)))


def test_blocks_are_found_where_they_are(tmp_path: Path) -> None:
    """In lists too, with the line that they begin in."""
    page = tmp_path / "page.md"
    page.write_text("# A\n\n- one\n\n  ```yaml\n  a: b\n  ```\n")
    assert list(Document(page).fences) == [Fence("yaml", "a: b\n", 5)]
