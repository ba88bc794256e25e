"""docs/security.md names tests behind its claims: they exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs" / "security.md").read_text()
NAMED = re.findall(r"`(\w+/test_\w+\.py)(?:::(\w+))?`", DOCUMENT)


def test_every_test_that_is_named_exists() -> None:
    """A claim whose test was renamed or dropped would stand without one."""
    assert len(NAMED) > 40
    missing = [name for name in NAMED if not _exists(*name)]
    assert missing == []


def _exists(path: str, name: str) -> bool:
    file = ROOT / "tests" / path
    return file.exists() and f"def {name}" in file.read_text()


def test_every_threat_and_mitigation_is_answered() -> None:
    """SIG Security lists eighteen threats and ten mitigations."""
    threats, mitigations = DOCUMENT.split("| # | threat |")[1].split("| # | mitigation |")
    assert _numbers(threats) == [*range(1, 19)]
    assert _numbers(mitigations) == [*range(1, 11)]


def _numbers(table: str) -> list[int]:
    cells = re.findall(r"^\| ([\d, ]+) \|", table, re.MULTILINE)
    return [int(number) for cell in cells for number in cell.split(",")]
