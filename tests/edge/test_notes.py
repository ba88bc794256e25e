"""Sentences of Events that hold whatever a controller says."""

from datetime import timedelta

import pytest

from tests.edge.objects_seen import at
from webhook.cluster import notes
from webhook.cluster.views import Turn

WORDS = {
    timedelta(): "0 s",
    timedelta(milliseconds=700): "1 s",
    timedelta(seconds=59): "59 s",
    timedelta(minutes=2): "2 min 0 s",
    timedelta(minutes=61, seconds=40): "1 h 1 min",
    timedelta(days=2, hours=3, minutes=50): "2 d 3 h",
    timedelta(seconds=-3): "0 s",
}


@pytest.mark.parametrize(("time", "words"), WORDS.items(), ids=WORDS.values())
def test_lengths_of_time(time: timedelta, words: str) -> None:
    """Two units are enough; clocks that disagree make no negative times."""
    assert notes.words(time) == words


@pytest.mark.parametrize("letter", ["x", "ü", "語", "🙂"])
def test_a_note_is_at_most_as_long_as_the_api_server_takes(letter: str) -> None:
    """Bytes count, and no character is cut in half."""
    note = notes.failed("Step node", Turn(is_true=True, at=at(0), message=letter * 2000))
    assert 1020 <= len(note.encode()) <= notes.LONGEST_NOTE
    assert note.endswith(f"{letter}…")


def test_a_note_is_one_line() -> None:
    """Line breaks and control characters of others do not reach a terminal."""
    turn = Turn(is_true=True, at=at(0), reason="Odd", message="one\n  two\tthree\x1b[31m.\n")
    assert notes.evicted("Step node", turn) == (
        "Step node stops: Kueue has taken its quota away. Kueue says: Odd: one two three\\x1b[31m."
    )


def test_nothing_is_quoted_where_nothing_was_said() -> None:
    """Neither reason nor message make no sentence."""
    assert notes.failed("Step node", Turn(is_true=True, at=at(0))) == "Step node failed."
