"""What stands in a picture, read back from its bytes alone."""

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from xml.etree.ElementTree import Element, fromstring

SVG = "{http://www.w3.org/2000/svg}"
HREF = "{http://www.w3.org/1999/xlink}href"

_COLOUR = re.compile(r"#[0-9a-f]{6}\b")
# Ids that matplotlib makes of what an element looks like, colours included.
_MADE_ID = re.compile(r"\b[a-z][0-9a-f]{10}\b")
_POINT = re.compile(r"[ML] (\S+) (\S+)")


@dataclass(frozen=True)
class Drawn:
    """An SVG file."""

    source: str

    @cached_property
    def root(self) -> Element:
        """The `svg` element; raises if the source is not well-formed."""
        return fromstring(self.source)  # noqa: S314 - we wrote it

    @property
    def geometry(self) -> str:
        """The source without its colours."""
        return _MADE_ID.sub("id", _COLOUR.sub("colour", self.source))

    def said(self, name: str) -> str:
        """The text of the first `title` or `desc`."""
        return self.root.findtext(SVG + name, "")

    def texts(self) -> list[str]:
        """Every text that is to be read, in the order of drawing."""
        return ["".join(element.itertext()) for element in self.root.iter(SVG + "text")]

    def area(self, name: str) -> float:
        """The area in square pixels of the shape with this id."""
        points = self._points(name)
        doubled = sum(x * b - a * y for (x, y), (a, b) in pairwise([*points, points[0]]))
        return abs(doubled) / 2

    def width(self, name: str) -> float:
        """The width in pixels of the shape with this id."""
        across = [x for x, _ in self._points(name)]
        return max(across) - min(across)

    def _points(self, name: str) -> list[tuple[float, float]]:
        found = self.root.find(f".//{SVG}g[@id='{name}']/{SVG}path")
        assert found is not None, name
        return [(float(x), float(y)) for x, y in _POINT.findall(found.attrib["d"])]
