"""Write the pages of docs/reference that follow from code: `make reference`."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from docsite import cases, commands, configuration, labels, metrics, reasons

FOLDER: Final = Path(__file__).resolve().parents[1] / "docs" / "reference"

PAGES: Final[Mapping[str, Callable[[], str]]] = {
    "labels.md": labels.markdown,
    "reasons.md": reasons.markdown,
    "metrics.md": metrics.markdown,
    "configuration.md": configuration.markdown,
    "cli.md": commands.markdown,
    "cases.md": cases.markdown,
}


def main() -> None:
    """Writes each page that is out of date."""
    FOLDER.mkdir(exist_ok=True)
    for name in stale():
        (FOLDER / name).write_text(PAGES[name]())
        sys.stdout.write(f"wrote docs/reference/{name}\n")


def stale(folder: Path = FOLDER) -> list[str]:
    """The pages that `make reference` would change."""
    return [name for name, markdown in PAGES.items() if _old(folder / name) != markdown()]


def _old(path: Path) -> str | None:
    return path.read_text() if path.exists() else None


if __name__ == "__main__":
    main()
