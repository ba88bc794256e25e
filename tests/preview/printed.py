"""Outputs that were looked at once and are compared since."""

import os
import re
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from typing import Final

from click.testing import CliRunner, Result

from webhook import __version__
from webhook.cli import main

ROOT: Final = Path(__file__).parents[2]
GOLDEN: Final = Path(__file__).parent / "golden"
INPUTS: Final = Path(__file__).parent / "inputs"

RENEW: Final = "GOLDEN"
"""Environment variable: `GOLDEN=renew` writes the files anew, to be looked at with `git diff`."""


def run(*arguments: str, folder: Path = INPUTS, stdin: str | None = None) -> Result:
    """The command as a person calls it in this folder; an exception is the test's."""
    with chdir(folder):
        return CliRunner().invoke(
            main, ["preview", *arguments], input=stdin, catch_exceptions=False
        )


def shown(result: Result) -> str:
    """What the golden files hold: the output without our version, and the exit code."""
    output = result.output.replace(__version__, "VERSION").rstrip()
    return f"{output}\n\nexit code {result.exit_code}\n"


def compare(name: str, result: Result) -> None:
    """AssertionError where the output or the exit code is not what the file says."""
    path = GOLDEN / name
    text = shown(result)
    if os.environ.get(RENEW) == "renew":
        path.write_text(text)
    hint = f"renew with {RENEW}=renew pytest tests/preview"
    assert path.is_file(), f"{path} is missing; {hint}"
    assert text == path.read_text(), f"{path} says something else; if it should, {hint}"


def promised(page: Path) -> Iterator[tuple[str, str]]:
    """The previews that a page shows: each command line, and the output under it."""
    for block in re.findall(r"```console\n(.*?)```", page.read_text(), re.DOTALL):
        line, _, output = block.partition("\n")
        if line.startswith("$ kueue-steps preview "):
            yield line.removeprefix("$ "), output.strip()
