"""Progress where there is no terminal."""

from localcluster.progress import EVERY_SECONDS, Lines


class Clock:
    """A clock that is moved by hand."""

    now = 0.0

    def __call__(self) -> float:
        """The time that it was moved to."""
        return self.now


def test_a_line_comes_every_few_percent() -> None:
    """A quick build says something twenty times, not a thousand times."""
    said: list[str] = []
    lines = Lines("compiling", 1000, said.append, Clock())
    for _ in range(1000):
        lines.advance()
    assert len(said) == 20
    assert said[0] == "compiling: 50 of 1000"


def test_a_slow_build_shows_that_it_is_alive() -> None:
    """A line comes after ten seconds, however little was done."""
    said: list[str] = []
    clock = Clock()
    lines = Lines("compiling", 1000, said.append, clock)
    lines.advance()
    clock.now = EVERY_SECONDS
    lines.advance()
    lines.advance()
    assert said == ["compiling: 2 of 1000"]


def test_an_unknown_total_is_not_shown() -> None:
    """Where nobody knows how much there is, the count is shown alone."""
    said: list[str] = []
    clock = Clock()
    lines = Lines("downloading", None, said.append, clock)
    clock.now = EVERY_SECONDS
    lines.advance()
    assert said == ["downloading: 1"]


def test_silence_is_broken_by_looking() -> None:
    """Where nothing is counted for a while, as when linking, a line comes all the same."""
    said: list[str] = []
    clock = Clock()
    lines = Lines("linking", 9, said.append, clock)
    lines.look()
    clock.now = EVERY_SECONDS
    lines.look()
    assert said == ["linking: 0 of 9"]
