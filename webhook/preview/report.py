"""The preview as a person or a program reads it: table, JSON, YAML."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

from webhook import __version__
from webhook.preview.explanations import Outcome
from webhook.preview.judgement import Judgement
from webhook.preview.steps import Row
from webhook.rules.objects import DependsOn
from webhook.rules.words import escaped

INDENT: Final = "  "
FIRST: Final = ("cpu", "memory")
"""Resources that come first; what a queue's users call GPUs comes after them."""

ASSUMED: Final = "taken as there and without peculiarities"
PASSED_OVER: Final = "passed over, since nothing here asks for them: "
NOTHING: Final = "there is no TrainJob and no JobSet in the files"


class _Dumper(yaml.SafeDumper):
    """Writes a text of several lines as several lines."""

    def represent_text(self, text: str) -> yaml.ScalarNode:
        return self.represent_scalar(
            "tag:yaml.org,2002:str", text, style="|" if "\n" in text else None
        )


_Dumper.add_representer(str, _Dumper.represent_text)


@dataclass(frozen=True, slots=True)
class Report:
    """All parents of the files, and what holds for the whole look.

    `assumed` are the objects that were taken as plain, and why they could not be seen.
    """

    judgements: Sequence[Judgement]
    assumed: Mapping[str, str] = field(default_factory=dict)
    passed_over: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()

    @property
    def is_finding(self) -> bool:
        """Whether something would be refused, or that can't be told."""
        return bool(self.unread) or any(one.is_finding for one in self.judgements)

    @property
    def notes(self) -> Iterator[str]:
        """What holds for the whole look, in sentences."""
        if not self.judgements:
            yield NOTHING
        for why in dict.fromkeys(self.assumed.values()):
            objects = ", ".join(name for name, reason in self.assumed.items() if reason == why)
            yield f"{ASSUMED} ({why}): {objects}"
        if self.passed_over:
            yield f"{PASSED_OVER}{', '.join(self.passed_over)}"

    @property
    def summary(self) -> dict[str, int]:
        """How many parents there are of each outcome."""
        counted = Counter(one.outcome for one in self.judgements)
        return {outcome.value: counted[outcome] for outcome in Outcome}


def rendered(report: Report, form: str) -> str:
    """The report in one of the forms table, json, yaml."""
    if form == "json":
        return json.dumps(document(report), indent=2)
    if form == "yaml":
        return yaml.dump(
            document(report), Dumper=_Dumper, sort_keys=False, width=100, allow_unicode=True
        ).rstrip()
    return "\n".join(map(escaped, _table(report)))


def document(report: Report) -> dict[str, Any]:
    """The stable shape: version, summary, objects, notes."""
    return {
        "version": __version__,
        "summary": report.summary,
        "objects": [_object(judgement) for judgement in report.judgements],
        "assumed": [{"object": name, "why": why} for name, why in report.assumed.items()],
        "passedOver": list(report.passed_over),
        "unread": list(report.unread),
    }


def _object(judgement: Judgement) -> dict[str, Any]:
    return {
        "kind": judgement.document.kind,
        "namespace": judgement.namespace,
        "name": judgement.document.name,
        "place": judgement.document.place,
        "outcome": judgement.outcome.value,
        "reason": judgement.answer.reason.value,
        "explanation": judgement.explanation,
        "denial": judgement.answer.denial,
        "problems": list(judgement.work.problems),
        "warnings": list(judgement.answer.warnings),
        "notes": [*judgement.notes, *judgement.work.notes],
        "derivedFrom": judgement.work.source or None,
        "steps": [_step(row) for row in judgement.work.rows],
        "object": judgement.answer.after,
        "diff": "\n".join(judgement.diff),
    }


def _step(row: Row) -> dict[str, Any]:
    return {
        "name": row.name,
        "order": row.order,
        "dependsOn": [{"name": edge.name, "status": edge.status} for edge in row.after],
        "pods": row.pods,
        "resourcesPerPod": row.resources,
        "queue": row.queue or None,
        "labels": row.labels,
    }


def _table(report: Report) -> Iterator[str]:
    for judgement in report.judgements:
        yield from _lines(judgement)
        yield ""
    for line in report.unread:
        yield f"problem: {line}"
    for line in report.notes:
        yield f"note: {line}"
    yield ", ".join(f"{word} {number}" for word, number in report.summary.items())


def _lines(judgement: Judgement) -> Iterator[str]:
    place = f"{judgement.namespace}/{judgement.document.name}"
    yield f"{judgement.document.kind} {place} ({judgement.document.place})"
    yield f"{INDENT}{judgement.outcome}: {judgement.explanation} ({judgement.answer.reason})"
    said = (
        ("denial", (judgement.answer.denial,) if judgement.answer.denial else ()),
        ("problem", judgement.work.problems),
        ("warning", judgement.answer.warnings),
        ("note", (*judgement.notes, *judgement.work.notes)),
    )
    for word, texts in said:
        yield from (f"{INDENT}{word}: {text}" for text in texts)
    if judgement.work.rows:
        yield ""
        yield from (INDENT + line for line in _steps(judgement.work.rows))
    if judgement.work.source and judgement.outcome is Outcome.STEP:
        yield from _step_labels(judgement)
    if judgement.diff:
        yield ""
        yield f"{INDENT}changes:"
        yield from (INDENT * 2 + line for line in judgement.diff)


def _steps(rows: Sequence[Row]) -> list[str]:
    found = {name for row in rows for name in row.resources}
    resources = [*(name for name in FIRST if name in found), *sorted(found - {*FIRST})]
    lines = [["step", "order", "after", "pods", *resources, "queue"]]
    for row in rows:
        amounts = [row.resources.get(name, "-") for name in resources]
        after = ", ".join(map(_edge, row.after)) or "-"
        lines.append([row.name, str(row.order), after, str(row.pods), *amounts, row.queue or "-"])
    return _aligned(lines)


def _step_labels(judgement: Judgement) -> Iterator[str]:
    yield ""
    yield f"{INDENT}step templates of its JobSet, derived from {judgement.work.source}:"
    listed = [
        [row.name, *(f"{key}: {value}" for key, value in row.labels.items())]
        for row in judgement.work.rows
    ]
    yield from (INDENT * 2 + line for line in _aligned(listed))


def _aligned(lines: Sequence[Sequence[str]]) -> list[str]:
    widest = max(len(line) for line in lines)
    padded = [[*line, *[""] * (widest - len(line))] for line in lines]
    widths = [max(map(len, column)) for column in zip(*padded, strict=True)]
    return [
        INDENT.join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in padded
    ]


def _edge(edge: DependsOn) -> str:
    return edge.name if edge.status == "Complete" else f"{edge.name} ({edge.status})"
