"""`python -m bench.pictures.architecture`: who writes what, and what becomes of it.

The picture is written by hand in architecture.svg, with the names of colours in place of colours.
"""

from dataclasses import asdict
from pathlib import Path
from string import Template

from bench.pictures.folder import save
from bench.pictures.palette import Palette

SOURCE = Path(__file__).with_suffix(".svg")


def draw(palette: Palette) -> str:
    """The picture in one theme."""
    return Template(SOURCE.read_text()).substitute(asdict(palette))


if __name__ == "__main__":
    save("architecture", draw)
