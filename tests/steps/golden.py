"""Outputs that were looked at once and are compared since."""

import os
from pathlib import Path
from typing import Final

from webhook import __version__

GOLDEN: Final = Path(__file__).parent / "golden"

RENEW: Final = "GOLDEN"
"""Environment variable: `GOLDEN=renew` writes the files anew, to be looked at with `git diff`."""


def compare(name: str, text: str) -> None:
    """AssertionError where the text is not what the file says."""
    path, text = GOLDEN / name, text.replace(__version__, "VERSION") + "\n"
    if os.environ.get(RENEW) == "renew":
        path.write_text(text)
    hint = f"renew with {RENEW}=renew pytest tests/steps"
    assert path.is_file(), f"{path} is missing; {hint}"
    assert text == path.read_text(), f"{path} says something else; if it should, {hint}"
