"""Where the pictures lie: one file for each theme, `NAME-light.svg` and `NAME-dark.svg`."""

from collections.abc import Callable
from pathlib import Path

from bench.pictures.palette import THEMES, Palette
from localcluster.modules import PROJECT_ROOT

PICTURES = PROJECT_ROOT / "docs" / "pictures"


def save(name: str, draw: Callable[[Palette], str], folder: Path = PICTURES) -> None:
    """Draw the picture in every theme and write it there."""
    folder.mkdir(parents=True, exist_ok=True)
    for palette in THEMES:
        file_of(name, palette, folder).write_text(draw(palette))


def file_of(name: str, palette: Palette, folder: Path = PICTURES) -> Path:
    """The file of the picture in this theme."""
    return folder / f"{name}-{palette.name}.svg"
