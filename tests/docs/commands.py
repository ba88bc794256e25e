"""Commands in the documentation: what they are, and what is wrong with them.

A file that a command names is in the repository, or the page links to it, or shows it as a block
that begins with its name as a comment, or it is the reader's own and called FILE.
"""

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import click

from tests.docs.github import ROOT, Document
from webhook.cli import main

MAKEFILE = (ROOT / "Makefile").read_text()
VERBS = set(re.findall(r"^([a-z-]+):.*## ", MAKEFILE, re.MULTILINE))
FILES = {"-f", "--filename", "-k", "--kustomize", "--values", "--config"}
UNCHECKED = {
    *("cat", "cd", "curl", "docker", "export", "git", "grep", "jq", "kind", "kustomize", "pip"),
    *("sort", "source"),
}
"""Programs whose arguments nobody checks."""
CHARTED = {"install", "template", "upgrade"}
"""Commands of Helm that take a name and a chart."""


@dataclass(frozen=True)
class Command:
    """One command of a pipeline."""

    document: Document
    text: str
    words: tuple[str, ...]
    shown: str = ""
    is_piped: bool = False

    @property
    def arguments(self) -> tuple[str, ...] | None:
        """Those of `kueue-steps`, None if it is another program."""
        for name in (("kueue-steps",), ("kubectl", "kueue-steps")):
            if self.words[: len(name)] == name:
                return self.words[len(name) :]
        return None

    @property
    def files(self) -> Iterator[str]:
        """Every file or folder that it reads."""
        for option, value in pairwise(self.words):
            if option in FILES and value not in {"-", "FILE"} and "://" not in value:
                yield value
        for word in self.words:
            option, equals, value = word.partition("=")
            if equals and option in FILES:
                yield value
        if self.words[0] == "helm" and CHARTED & {*self.words}:
            yield _positional(self.words)[3]

    @property
    def problems(self) -> Iterator[str]:
        """What is wrong with it."""
        program = self.words[0].rpartition("/")[2]
        if self.arguments is not None:
            yield from _usage(self.arguments)
        elif program == "make":
            yield from _verbs(self.words[1:])
        elif program in {"python", "python3"}:
            yield from _modules(self.words)
        elif program not in {"kubectl", "helm", *UNCHECKED}:
            yield f"{program} is a program that this check does not know"
        yield from (f"there is no {file}" for file in self.files if self.source(file) is None)

    def source(self, file: str) -> Path | str | None:
        """Where a file is in the repository, or its content if the page shows it."""
        if (ROOT / file).exists():
            return ROOT / file
        for link in self.document.links:
            linked = self.document.path.parent / link
            if Path(link).name == file and linked.exists():
                return linked
        shown = (
            fence.text for fence in self.document.fences if fence.text.startswith(f"# {file}\n")
        )
        return next(shown, None)


def commands(document: Document) -> Iterator[Command]:
    """Every command in a block of code, after a prompt."""
    for fence in document.fences:
        text = fence.text.replace("\\\n", " ")
        if fence.language not in {"console", "text"} or not re.search(r"^\$ ", text, re.MULTILINE):
            continue
        for prompt in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            line, _, shown = prompt.partition("\n")
            yield from _pipeline(document, line, shown)


def _pipeline(document: Document, line: str, shown: str) -> Iterator[Command]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>")
    lexer.whitespace_split = True
    parts: list[list[str]] = [[]]
    for word in lexer:
        if set(word) <= set("|&;<>"):
            parts.append([])
        else:
            parts[-1].append(word)
    for part in parts:
        words = [*part]
        while words and re.match(r"[A-Z_]+=", words[0]):
            words.pop(0)
        if words:
            yield Command(document, line, tuple(words), shown, is_piped=len(parts) > 1)


def mentioned(document: Document) -> Iterator[str]:
    """What is wrong with the commands that a page names within its sentences."""
    for token in document.tokens:
        words = token.content.split() if token.type == "code_inline" else []
        if words[:1] == ["make"]:
            yield from _verbs(words[1:])
        elif words[:1] == ["kueue-steps"] and words[1:]:
            yield from _options(words[1:])


def _options(words: Sequence[str]) -> Iterator[str]:
    """Unknown commands and options; a sentence may leave out what a command needs."""
    context = click.Context(main, info_name="kueue-steps", **main.context_settings)
    command = main.get_command(context, words[0])
    if command is None:
        yield f"kueue-steps has no command {words[0]!r}"
        return
    try:
        command.make_parser(click.Context(command, parent=context)).parse_args([*words[1:]])
    except click.NoSuchOption as error:
        yield error.format_message()
    except click.BadOptionUsage:
        pass  # A sentence may leave out an option's value too.


def _usage(arguments: Sequence[str]) -> Iterator[str]:
    """What click says of the arguments; every file is taken to be there."""
    context = click.Context(main, info_name="kueue-steps", **main.context_settings)
    name, *rest = arguments or [""]
    command = main.get_command(context, name)
    if command is None:
        yield f"kueue-steps has no command {name!r}"
        return
    try:
        with command.make_context(name, _there(command, context, rest), parent=context):
            pass
    except click.ClickException as error:
        yield error.format_message()


def _there(command: click.Command, context: click.Context, words: list[str]) -> list[str]:
    """The words with every file replaced by one that exists."""
    with click.Context(command, parent=context) as inner:
        given, _, _ = command.make_parser(inner).parse_args([*words])
    files = {
        str(value)
        for parameter in command.params
        if isinstance(parameter.type, click.Path) and (said := given.get(parameter.name or ""))
        for value in (said if isinstance(said, list) else [said])
    }
    return ["/dev/null" if word in files else word for word in words]


def _verbs(words: Sequence[str]) -> Iterator[str]:
    for word in words:
        name, equals, _ = word.partition("=")
        if equals and not re.search(rf"\b{name}\b", MAKEFILE):
            yield f"the Makefile knows no {name}"
        if not equals and not word.startswith("-") and word not in VERBS:
            yield f"make has no verb {word}"


def _modules(words: Sequence[str]) -> Iterator[str]:
    for option, module in pairwise(words):
        if option == "-m" and find_spec(module) is None:
            yield f"there is no module {module}"


def _positional(words: Sequence[str]) -> list[str]:
    """The words that are no options; every option of Helm in a command here that has a value."""
    kept = [""]
    previous = ""
    for word in words:
        if not word.startswith("-") and previous not in {"-n", "--namespace", "--set", "-f"}:
            kept.append(word)
        previous = word
    return [*kept[1:], "", "", "", ""]
