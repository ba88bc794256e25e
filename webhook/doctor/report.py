"""The findings as a person or a program reads them: table, JSON, YAML."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import yaml

from webhook import __version__
from webhook.doctor.findings import Finding, Severity
from webhook.rules.words import printable

_RANKS = {severity: rank for rank, severity in enumerate(Severity)}


def rendered(findings: Sequence[Finding], form: str) -> str:
    """The report in one of the forms table, json, yaml; worst findings first."""
    ordered = sorted(findings, key=lambda finding: _RANKS[finding.note.severity])
    if form == "json":
        return json.dumps(document(ordered), indent=2)
    if form == "yaml":
        return yaml.safe_dump(document(ordered), sort_keys=False, width=100).rstrip()
    return "\n".join(_table(ordered))


def document(findings: Sequence[Finding]) -> dict[str, Any]:
    """The stable shape: version, summary, findings."""
    return {
        "version": __version__,
        "summary": _counts(findings),
        "findings": [
            {
                "check": finding.check.value,
                "severity": finding.note.severity.value,
                "object": finding.note.subject,
                "message": finding.note.message,
                "remedy": finding.note.remedy,
            }
            for finding in findings
        ],
    }


def _counts(findings: Sequence[Finding]) -> dict[str, int]:
    counted = Counter(finding.note.severity for finding in findings)
    return {severity.value: counted[severity] for severity in Severity}


def _table(findings: Sequence[Finding]) -> Iterator[str]:
    width = max(len(finding.check) for finding in findings)
    for finding in findings:
        note = finding.note
        said = printable(f"{note.subject}: {note.message}")
        yield f"{note.severity:<8}{finding.check:<{width}}  {said}"
        if note.remedy:
            yield f"{'':{8 + width}}  > {printable(note.remedy)}"
    counts = (f"{word} {number}" for word, number in _counts(findings).items())
    yield ""
    yield ", ".join(counts)
