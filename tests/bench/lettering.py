"""Where the texts of a picture stand, if they are set in DejaVu, the widest font it may meet."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextToPath

from tests.bench.drawn import SVG, Drawn

# The share of the size that letters reach above and below their line.
ASCENT, DESCENT = 0.76, 0.22
USUAL = {"font-size": "12px", "text-anchor": "start"}

Style = dict[str, str]


@dataclass(frozen=True)
class Box:
    """A text and the rectangle that it takes."""

    text: str
    left: float
    top: float
    right: float
    bottom: float

    def touches(self, other: "Box") -> bool:
        """Do the two share a pixel?"""
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )


def boxes(picture: Drawn) -> Iterator[Box]:
    """All level texts."""
    rules = _rules(picture.root)
    for element in picture.root.iter(SVG + "text"):
        if "rotate(-90" in element.get("transform", ""):
            continue
        style = _style(element, rules, USUAL)
        x, y, size = float(element.attrib["x"]), float(element.attrib["y"]), _size(style)
        width = sum(_width(text, how) for text, how in _runs(element, style, rules))
        left = x - width * {"start": 0, "middle": 0.5, "end": 1}[style["text-anchor"]]
        text = "".join(element.itertext())
        yield Box(text, left, y - ASCENT * size, left + width, y + DESCENT * size)


def _runs(element: Element, style: Style, rules: dict[str, Style]) -> Iterator[tuple[str, Style]]:
    yield element.text or "", style
    for part in element:
        yield part.text or "", _style(part, rules, style)
        yield part.tail or "", style


def _width(text: str, style: Style) -> float:
    family = "DejaVu Sans Mono" if "mono" in style.get("font-family", "") else "DejaVu Sans"
    weight = "bold" if style.get("font-weight", "400") >= "600" else "normal"
    font = FontProperties(family=family, weight=weight, size=_size(style))
    width, _, _ = TextToPath().get_text_width_height_descent(" ".join(text.split()), font, False)
    return float(width) + (text[:1] == " ") * 4.0


def _size(style: Style) -> float:
    return float(style["font-size"].removesuffix("px"))


def _style(element: Element, rules: dict[str, Style], around: Style) -> Style:
    """What the element's tag, its classes and its own style say, the last of them winning."""
    names = [element.tag.removeprefix(SVG), *(f".{one}" for one in _classes(element))]
    named = [rules.get(name, {}) for name in names]
    return around | {k: v for rule in named for k, v in rule.items()} | _said(element.get("style"))


def _classes(element: Element) -> list[str]:
    return element.get("class", "").split()


def _rules(root: Element) -> dict[str, Style]:
    sheets = "\n".join(style.text or "" for style in root.iter(SVG + "style"))
    return {name: _said(body) for name, body in re.findall(r"(\.?[\w-]+) \{([^}]*)\}", sheets)}


def _said(declarations: str | None) -> Style:
    pairs = (one.split(":", 1) for one in (declarations or "").split(";") if ":" in one)
    said = {key.strip(): value.strip() for key, value in pairs}
    if size := re.match(r"[\d.]+px", said.pop("font", "")):
        said["font-size"] = size[0]
    return said
