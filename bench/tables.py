"""Markdown tables of figures. Pure."""

from collections.abc import Iterable
from typing import Final

from bench.environment import Environment
from bench.judgement import Judgement
from bench.spread import Spread

FEW: Final = 3
"""So many found figures are told beside the target; of more, only those that miss it."""


def table(head: Iterable[str], lines: Iterable[Iterable[str]]) -> str:
    """One with these titles."""
    titles = list(head)
    drawn = ["| " + " | ".join(titles) + " |", "|" + "---|" * len(titles)]
    drawn += ["| " + " | ".join(line) + " |" for line in lines]
    return "\n".join(drawn)


def targets(judgements: Iterable[Judgement]) -> str:
    """What was promised, and what was found for each thing that it is about."""
    lines = (
        (item.target, "met" if item.is_met else "**missed**", found(item)) for item in judgements
    )
    return "## Targets\n\n" + table(("target", "", "found"), lines)


def spreading(spread: Spread, form: str = "{:,.1f}") -> str:
    """The median, with the least and the most where they differ."""
    middle, least, most = map(form.format, spread)
    return middle if least == most else f"{middle} ({least} to {most})"


def circumstances(environment: Environment) -> str:
    """Date, CPUs, versions and load as the first points of a list."""
    before, after = (
        ", ".join(map(str, load)) for load in (environment.load_before, environment.load_after)
    )
    return (
        f"- {environment.date}, {environment.cpus} CPUs for everything: control plane, our server, "
        "clients.\n"
        f"- Versions: {environment.made_with}.\n"
        f"- Load average over 1, 5 and 15 minutes before: {before}; after: {after}."
    )


def found(judgement: Judgement) -> str:
    """What was found; of many things only those that miss the target."""
    few = len(judgement.found) <= FEW
    parts = [
        f"{title}: {'**' + found + '**' if title in judgement.missed else found}"
        for title, found in judgement.found.items()
        if few or title in judgement.missed
    ]
    kept = len(judgement.found) - len(judgement.missed)
    return "; ".join(parts if few else [f"{kept} of {len(judgement.found)} meet it", *parts])
