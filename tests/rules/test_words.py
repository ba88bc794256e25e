"""Words of others, made fit to be shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webhook.rules.words import escaped, printable

SHOWN = {
    "plain": "plain",
    " one\n two\t three\u2028four ": "one two three four",
    "Größe 語 🙂": "Größe 語 🙂",
    "\x1b[31m": r"\x1b[31m",
    "\x9b2J\x7f": r"\x9b2J\x7f",
    "\u202eabc\u2066": r"\u202eabc\u2066",
    "\ud800": r"\ud800",
    "": "",
}


@pytest.mark.parametrize(("text", "shown"), SHOWN.items())
def test_a_text_is_shown_on_one_line(text: str, shown: str) -> None:
    """White space is one space, what is not printed an escape."""
    assert printable(text) == shown


def test_an_escaped_text_keeps_its_spaces() -> None:
    """A table's columns stay where they are."""
    assert escaped("a   b\n") == r"a   b\n"


@given(st.text(st.characters()))
def test_whatever_is_shown_is_printed(text: str) -> None:
    """And it is shown so for good."""
    assert printable(text).isprintable()
    assert printable(printable(text)) == printable(text)
