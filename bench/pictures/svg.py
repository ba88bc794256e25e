"""From a matplotlib figure to an SVG that a page can show as an image.

The text stays text. It is laid out with the metrics of DejaVu Sans, which comes with matplotlib and
is wider than what systems have, and shown in the reader's own font. The same figure gives the same
bytes: no date, no random ids, and no settings of the machine.
"""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from typing import Any

from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bench.pictures.palette import Palette

POINTS_PER_INCH = 72
LAID_OUT_IN = "DejaVu Sans"
SHOWN_IN = (
    "text { font-family: system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, "
    "'DejaVu Sans', sans-serif }"
)


@dataclass(frozen=True)
class Words:
    """What a screen reader says."""

    title: str
    description: str


@dataclass(frozen=True)
class Pen:
    """Writes on a figure, at pixels from its top left."""

    figure: Figure

    def __call__(self, x: float, y: float, text: str, **how: Any) -> None:
        """Write a line; `y` is its base."""
        width, height = _size(self.figure)
        self.figure.text(x / width, 1 - y / height, text, **how)


@contextmanager
def settings(palette: Palette) -> Iterator[None]:
    """Defaults of matplotlib and ours, whatever the machine says."""
    ours = {
        "svg.fonttype": "none",
        "svg.hashsalt": "kueue-steps",
        "svg.id": None,
        "font.family": LAID_OUT_IN,
        "font.size": 12.0,
        "text.color": palette.ink,
        "axes.labelcolor": palette.ink,
        "axes.edgecolor": palette.line,
        "xtick.color": palette.line,
        "ytick.color": palette.line,
        "xtick.labelcolor": palette.ink,
        "ytick.labelcolor": palette.ink,
        "hatch.linewidth": 1.2,
    }
    with style.context(["default", ours]):
        yield


def canvas(width: int, height: int) -> Figure:
    """An empty, transparent figure; a point of it is a pixel of the picture."""
    size = (width / POINTS_PER_INCH, height / POINTS_PER_INCH)
    made = Figure(figsize=size, dpi=POINTS_PER_INCH)
    made.patch.set_alpha(0)
    return made


def axes(figure: Figure, left: float, top: float, right: float, bottom: float) -> Axes:
    """Transparent axes between these pixels, with lines at the left and below only."""
    width, height = _size(figure)
    made = figure.add_axes(
        (left / width, 1 - bottom / height, (right - left) / width, (bottom - top) / height)
    )
    made.patch.set_alpha(0)
    made.spines[["top", "right"]].set_visible(False)
    return made


def text(figure: Figure, words: Words) -> str:
    """The figure as SVG, with a title and a description."""
    written = io.StringIO()
    no_metadata = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    figure.savefig(written, format="svg", metadata=no_metadata)
    whole = written.getvalue()
    root, body = whole[whole.index("<svg") :].split(">", 1)
    opening = f"""{root.replace('pt"', '"')} role="img" aria-labelledby="title desc">
 <title id="title">{escape(words.title)}</title>
 <desc id="desc">{escape(words.description)}</desc>
 <style>{SHOWN_IN}</style>"""
    return opening + body.replace(f" font-family: '{LAID_OUT_IN}';", "")


def _size(figure: Figure) -> tuple[float, float]:
    width, height = figure.get_size_inches() * POINTS_PER_INCH
    return float(width), float(height)
