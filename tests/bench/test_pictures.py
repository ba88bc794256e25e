"""The pictures of README and docs, as they are committed: for every reader, in both themes."""

import re
from itertools import combinations
from pathlib import Path

import pytest

from bench.pictures import architecture
from bench.pictures.folder import PICTURES, file_of, save
from bench.pictures.palette import LEAST_CONTRAST, LIGHT, THEMES, Palette, contrast
from tests.bench.drawn import HREF, Drawn
from tests.bench.lettering import boxes

NAMES = ("architecture", "quota", "timeline")
FILES = sorted(file_of(name, palette) for name in NAMES for palette in THEMES)
# Of shapes that one has to see, in WCAG 2.2, level AA.
LEAST_CONTRAST_OF_SHAPES = 3.0
WIDEST = 900

# What is written on what, by the palette's names; `pages` stands for all of them.
TEXTS = {
    "ink": ("pages", "card", "band", "idle", "busy", "ours"),
    "faint": ("pages", "card"),
    "on_used": ("used",),
    "our_ink": ("pages", "ours"),
    "held": ("pages",),
    "passes": ("pages",),
}
SHAPES = {
    "used": ("pages", "idle"),
    "our_edge": ("pages", "band"),
    "held": ("pages", "band"),
    "passes": ("pages", "band"),
    "ink": ("idle",),
}


def grounds(palette: Palette, names: tuple[str, ...]) -> list[str]:
    """The colours that these names stand for."""
    colours = [getattr(palette, name) for name in names if name != "pages"]
    return [*colours, *(palette.pages if "pages" in names else ())]


def drawn(path: Path) -> Drawn:
    """The committed picture."""
    return Drawn(path.read_text())


def test_every_picture_is_there_in_both_themes() -> None:
    """And no other of the kind is: what is not drawn any more is taken away."""
    themed = [path for palette in THEMES for path in PICTURES.glob(f"*-{palette.name}.svg")]
    assert sorted(themed) == FILES


@pytest.mark.parametrize("name", NAMES)
def test_both_themes_differ_in_colours_only(name: str) -> None:
    """Nothing moves when a reader switches, and something changes."""
    light, dark = (drawn(file_of(name, palette)) for palette in THEMES)
    assert light.geometry == dark.geometry
    assert light.source != dark.source


def test_the_architecture_is_what_its_source_gives(tmp_path: Path) -> None:
    """The committed files are drawn from architecture.svg, in every byte."""
    save("architecture", architecture.draw, tmp_path)
    for palette in THEMES:
        made = file_of("architecture", palette, tmp_path)
        assert made.read_bytes() == file_of("architecture", palette).read_bytes()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_picture_is_told_to_those_who_do_not_see_it(path: Path) -> None:
    """It is an image with a title and a description, and what is written in it is text."""
    picture = drawn(path)
    assert picture.root.attrib["role"] == "img"
    assert picture.root.attrib["aria-labelledby"] == "title desc"
    assert picture.said("title")
    assert len(picture.said("desc")) > len(picture.said("title"))
    assert len(picture.texts()) > 20


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_picture_asks_nobody_for_anything(path: Path) -> None:
    """No font, image, style or script from elsewhere; a page shows it as it is."""
    picture = drawn(path)
    loads = re.findall(
        r"url\((?!#)|@import|@font-face|<script|<image|<!DOCTYPE|<\?xml", path.read_text()
    )
    assert loads == []
    assert all(e.attrib[HREF].startswith("#") for e in picture.root.iter() if HREF in e.attrib)
    assert not any(e.get("href") for e in picture.root.iter())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_picture_fits_a_page_and_has_none_of_its_own(path: Path) -> None:
    """At most as wide as a README's column, and without a background."""
    root = drawn(path).root
    assert int(root.attrib["width"]) <= WIDEST
    assert root.attrib["viewBox"] == f"0 0 {root.attrib['width']} {root.attrib['height']}"
    everything = re.compile(rf"^M 0 {root.attrib['height']}\b")
    covers = [e for e in root.iter() if everything.match(e.get("d", ""))]
    assert all("fill: none" in e.attrib["style"] for e in covers)


@pytest.mark.parametrize("name", NAMES)
def test_no_text_lies_on_another_or_is_cut_off(name: str) -> None:
    """In the widest of the fonts that readers have."""
    picture = drawn(file_of(name, LIGHT))
    width, height = int(picture.root.attrib["width"]), int(picture.root.attrib["height"])
    found = list(boxes(picture))
    cut = [box for box in found if box.left < 0 or box.right > width or box.bottom > height]
    assert cut == []
    assert [(one.text, two.text) for one, two in combinations(found, 2) if one.touches(two)] == []


@pytest.mark.parametrize("palette", THEMES, ids=lambda palette: palette.name)
@pytest.mark.parametrize(
    ("pairs", "least"), [(TEXTS, LEAST_CONTRAST), (SHAPES, LEAST_CONTRAST_OF_SHAPES)]
)
def test_what_is_drawn_stands_out_from_its_ground(
    pairs: dict[str, tuple[str, ...]], least: float, palette: Palette
) -> None:
    """Text and shapes have WCAG's contrast on every ground, on GitHub and on the site."""
    weak = [
        f"{name} {getattr(palette, name)} on {ground}: {ratio:.1f}"
        for name, names in pairs.items()
        for ground in grounds(palette, names)
        if (ratio := contrast(getattr(palette, name), ground)) < least
    ]
    assert weak == []


@pytest.mark.parametrize(
    ("one", "other", "ratio"),
    [("#000000", "#ffffff", 21.0), ("#777777", "#ffffff", 4.48), ("#0063a6", "#0063a6", 1.0)],
)
def test_contrast_is_as_wcag_defines_it(one: str, other: str, ratio: float) -> None:
    """Known ratios, in either order."""
    assert contrast(one, other) == contrast(other, one) == pytest.approx(ratio, abs=0.005)


@pytest.mark.parametrize("palette", THEMES, ids=lambda palette: palette.name)
@pytest.mark.parametrize("name", NAMES)
def test_no_text_has_a_colour_whose_contrast_nobody_checked(name: str, palette: Palette) -> None:
    """Every fill of a text is one of the table above."""
    source = drawn(file_of(name, palette)).source
    of_elements = re.findall(r'<text style="[^"]*fill: (#\w{6})', source)
    of_classes = re.findall(
        r"(?:^text|^\.(?:faint|our|held|passes)) \{.*fill: (#\w{6})", source, re.MULTILINE
    )
    used = set(of_elements) | set(of_classes)
    assert used
    assert used <= {getattr(palette, text) for text in TEXTS}
