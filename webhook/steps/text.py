"""The tree as plain text: aligned columns, one line each, never cut to a width."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from webhook.rules.words import printable
from webhook.steps.tree import Parent, Span, State, Step, Tree
from webhook.steps.wording import NOTHING, asked, length, pods, why_parent, why_step

GAP: Final = "  "
EMPTY: Final = "There is no TrainJob and no JobSet that Kueue queues."


class Row(NamedTuple):
    """One line: a parent, or a step below it."""

    name: str
    state: str
    queue: str
    pods: str
    asks: str
    queued: str
    run: str
    why: str


HEAD: Final = Row(*(word.upper() for word in Row._fields))


def table(tree: Tree, now: datetime) -> str:
    """Everything, as it is printed where there is no terminal."""
    lines = []
    if listed := [row for parent in tree.parents for row in rows(parent, now)]:
        lines += _aligned([HEAD, *listed])
    return "\n".join([*lines, *remarks(tree)])


def rows(parent: Parent, now: datetime) -> Iterator[Row]:
    """The parent, then its steps, as a terminal may show them."""
    for row in _rows(parent, now):
        yield Row(*map(printable, row))


def remarks(tree: Tree) -> Iterator[str]:
    """What holds for all of it, in sentences."""
    yield from map(printable, _remarks(tree))


def _rows(parent: Parent, now: datetime) -> Iterator[Row]:
    standing = parent.standing
    yield Row(
        f"{parent.kind} {parent.namespace}/{parent.name}",
        standing.state.value,
        standing.queue or NOTHING,
        NOTHING,
        asked(parent.requests),
        _length(standing.queued, now),
        _length(standing.run, now),
        why_parent(parent),
    )
    for step, label in zip(parent.steps, _labels(parent), strict=True):
        yield _row(step, f"{'`-' if step is parent.steps[-1] else '|-'} {label}", now)


def _remarks(tree: Tree) -> Iterator[str]:
    if not tree.parents and not tree.problem:
        yield EMPTY
    if tree.left_out:
        one = tree.left_out == 1
        yield (
            f"note: {tree.left_out} more {'is' if one else 'are'} not queued by Kueue; "
            f"--all shows {'it' if one else 'them'}"
        )
    yield from (f"note: {note}" for note in tree.notes)
    if tree.problem:
        yield f"problem: {tree.problem}"


def _row(step: Step, name: str, now: datetime) -> Row:
    standing = step.standing
    return Row(
        name,
        standing.state.value,
        standing.queue or NOTHING,
        pods(step),
        asked(step.requests),
        _length(standing.queued, now),
        _length(standing.run, now),
        why_step(step) or _ended(standing.state),
    )


def _ended(state: State) -> str:
    return "" if state is State.DONE else NOTHING


def _labels(parent: Parent) -> list[str]:
    """The steps' names; where a step has several Jobs, what tells them apart."""
    counts = Counter(step.name for step in parent.steps)
    prefix = f"{parent.jobset}-"
    return [
        step.job.removeprefix(prefix) if step.job and counts[step.name] > 1 else step.name
        for step in parent.steps
    ]


def _length(span: Span | None, now: datetime) -> str:
    return NOTHING if span is None else length(span.until(now))


def _aligned(lines: Sequence[Row]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [
        GAP.join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]
