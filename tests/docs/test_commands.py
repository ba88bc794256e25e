"""Commands in the documentation work: those that need no cluster are run."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.commands import Command, commands, mentioned
from tests.docs.github import ROOT, Document, documents

COMMANDS = [command for document in documents() for command in commands(document)]
OFFLINE = [
    command
    for command in COMMANDS
    if command.arguments
    and command.arguments[0] in {"preview", "version"}
    and not {"--cluster", "-", "FILE"} & {*command.arguments}
    and not command.is_piped
]


def _ids(command: Command) -> str:
    return f"{command.document.path.relative_to(ROOT)}: {' '.join(command.words)}"


@pytest.mark.parametrize("command", COMMANDS, ids=_ids)
def test_a_command_is_one(command: Command) -> None:
    """Its verb, options and files exist."""
    assert list(command.problems) == []


@pytest.mark.parametrize("document", documents(), ids=lambda one: str(one.path.relative_to(ROOT)))
def test_a_command_in_a_sentence_is_one(document: Document) -> None:
    """Its verb or command exists, and so do its options."""
    assert list(mentioned(document)) == []


MENTIONED = {
    "a verb": ("`make up`", ""),
    "an unknown verb": ("`make pu`", "make has no verb pu"),
    "an unknown variable": ("`make demo REPROT=a`", "the Makefile knows no REPROT"),
    "a command without what it needs": ("`kueue-steps preview`", ""),
    "the program": ("`kueue-steps`", ""),
    "an unknown command": ("`kueue-steps previw`", "has no command 'previw'"),
    "an unknown option": ("`kueue-steps preview --dry`", "No such option"),
    "another program": ("`maker of things`", ""),
}


@pytest.mark.parametrize(("text", "problem"), MENTIONED.values(), ids=MENTIONED.keys())
def test_a_wrong_command_in_a_sentence_is_found(text: str, problem: str, tmp_path: Path) -> None:
    """Only what is wrong is told."""
    page = tmp_path / "page.md"
    page.write_text(f"Say {text} and wait.\n")
    found = "\n".join(mentioned(Document(page)))
    assert problem in found if problem else not found


@pytest.mark.parametrize("command", OFFLINE, ids=_ids)
def test_a_command_that_needs_no_cluster_does_what_the_page_shows(
    command: Command, tmp_path: Path
) -> None:
    """It ends well, and prints what stands below it; where that is a finding, with exit code 1."""
    for file in command.files:
        _bring(command, file, tmp_path / file)
    run = subprocess.run(
        [sys.executable, "-m", "webhook", *(command.arguments or ())],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode in ({0, 1} if command.shown.strip() else {0}), run.stderr
    assert _is_shown(command.shown, run.stdout)


def _bring(command: Command, file: str, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    source = command.source(file)
    if isinstance(source, Path):
        shutil.copy(source, to)
    else:
        to.write_text(source or "")


def _is_shown(shown: str, printed: str) -> bool:
    """Whether the lines of a page are those that were printed; `[...]` stands for any."""
    parts = (re.escape(part.strip()) for part in shown.split("[...]"))
    return not shown.strip() or bool(re.fullmatch(".*".join(parts), printed.strip(), re.DOTALL))


def test_there_are_commands_to_look_at() -> None:
    """The documentation has commands of each kind, some of which can be run."""
    programs = {command.words[0] for command in COMMANDS}
    assert {"make", "kubectl", "helm", "kueue-steps"} <= programs
    assert OFFLINE


SHOWN = "# job.yaml\na: b\n"
FINE = {
    "a verb": "make demo REPORT=out.json",
    "a file of the repository": "kubectl apply --server-side -f manifests/install.yaml",
    "a file that the page shows": "kubectl create -f job.yaml",
    "a file that the page links to": "kueue-steps preview -f runtime.yaml",
    "a file from elsewhere": "kubectl apply -f https://example.com/a.yaml",
    "a chart": "helm install kueue-steps manifests/chart -n a --create-namespace",
    "a file of the reader's own": "kueue-steps preview -f FILE",
    "standard input": "kubectl kustomize manifests/base | kueue-steps preview -f - -o json",
    "options of ours": "kubectl kueue-steps doctor -n team-a --config job.yaml",
    "a variable before it": "KUEUE_FRAMEWORKS=batch/job make up",
    "a module": ".venv/bin/python -m localcluster up",
    "a remark": "make check   # -f nothing.yaml",
}
WRONG = {
    "an unknown verb": ("make dmeo", "make has no verb dmeo"),
    "an unknown variable": ("make demo REPROT=a", "the Makefile knows no REPROT"),
    "a file that is nowhere": ("kubectl apply -f b.yaml", "there is no b.yaml"),
    "a folder that is nowhere": ("kubectl apply -k manifests/bas", "there is no manifests/bas"),
    "a file with an equals sign": ("kubectl apply -f=b.yaml", "there is no b.yaml"),
    "a chart that is nowhere": ("helm upgrade --install a charts/a", "there is no charts/a"),
    "values that are nowhere": ("helm install a manifests/chart --values b", "there is no b"),
    "an unknown command": ("kueue-steps previw -f job.yaml", "has no command 'previw'"),
    "an unknown option": ("kueue-steps preview -f job.yaml --dry", "No such option"),
    "a bad choice": ("kueue-steps doctor -o xml", "'xml' is not one of"),
    "a missing option": ("kueue-steps preview", "Missing option"),
    "an argument too many": ("kueue-steps version now", "unexpected extra argument"),
    "the second of a pipeline": ("cat a | kueue-steps doctr", "has no command 'doctr'"),
    "a module that is nowhere": ("python -m webhok", "there is no module webhok"),
    "a program that is not known": ("kubctl get pods", "kubctl is a program"),
    "the second line": ("make check\n$ make chekc", "make has no verb chekc"),
    "a continued line": ("kubectl apply \\\n    -f b.yaml", "there is no b.yaml"),
}


def _problems(folder: Path, line: str) -> Iterator[str]:
    (folder / "runtime.yaml").write_text("")
    page = folder / "page.md"
    page.write_text(
        f"[a runtime](runtime.yaml)\n\n```yaml\n{SHOWN}```\n\n```console\n$ {line}\n```\n"
    )
    for command in commands(Document(page)):
        yield from command.problems


@pytest.mark.parametrize("line", FINE.values(), ids=FINE.keys())
def test_what_is_right_passes(line: str, tmp_path: Path) -> None:
    """No finding where there is nothing to find."""
    assert list(_problems(tmp_path, line)) == []


@pytest.mark.parametrize(("line", "problem"), WRONG.values(), ids=WRONG.keys())
def test_what_is_wrong_is_found(line: str, problem: str, tmp_path: Path) -> None:
    """Each is told in one sentence."""
    assert problem in "\n".join(_problems(tmp_path, line))


PRINTED = "one\ntwo\nthree\n"
OUTPUTS = {
    "all of it": ("one\ntwo\nthree\n", True),
    "nothing": ("", True),
    "the beginning": ("one\n[...]\n", True),
    "both ends": ("one\n[...]\nthree\n", True),
    "less than all": ("one\ntwo\n", False),
    "something else": ("one\n[...]\nfour\n", False),
    "the wrong order": ("three\n[...]\none\n", False),
}


@pytest.mark.parametrize(("shown", "is_shown"), OUTPUTS.values(), ids=OUTPUTS.keys())
def test_what_a_page_shows_is_what_was_printed(shown: str, *, is_shown: bool) -> None:
    """A page may leave lines out where it says so."""
    assert _is_shown(shown, PRINTED) is is_shown
