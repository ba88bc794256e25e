"""Markdown as the reference writes it: tables, and the line that says where a page comes from."""

from collections.abc import Iterable, Sequence


def page(title: str, source: str, *parts: str) -> str:
    """A whole page; `source` is the file that somebody changes instead of it."""
    note = f"<!-- Generated from {source} by `make reference`. -->"
    return "\n\n".join([f"# {title}", note, *(part.strip("\n") for part in parts)]) + "\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; cells are Markdown without `|`, which GitHub and the site escape differently."""
    return "\n".join([_row(head), _row(["---"] * len(head)), *map(_row, rows)])


def code(*texts: str) -> str:
    """Each text as code, in one cell."""
    return ", ".join(f"`{text}`" for text in texts)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
