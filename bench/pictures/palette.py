"""The colours of both themes, and the formula by which text on them is readable. Pure.

Blue and orange are told apart by everybody (after Okabe and Ito), and are never the only sign:
what is idle is hatched too, what is held has a bar across its arrow.
"""

from dataclasses import dataclass

# The least contrast of text in WCAG 2.2, level AA.
LEAST_CONTRAST = 4.5


@dataclass(frozen=True)
class Palette:
    """One theme. `pages` are the backgrounds that it is shown on: the pictures have none.

    ink: text and what matters; faint: secondary text, axes; line: thin borders; card: a surface;
    used, idle, ours: filled areas with their own text colours or with ink on them.
    """

    name: str
    pages: tuple[str, ...]
    ink: str
    faint: str
    line: str
    card: str
    band: str
    used: str
    on_used: str
    idle: str
    hatch: str
    busy: str
    ours: str
    our_edge: str
    our_ink: str
    held: str
    passes: str


# Pages: GitHub and mkdocs-material, in each of their themes.
LIGHT = Palette(
    name="light",
    pages=("#ffffff", "#f6f8fa"),
    ink="#1f2328",
    faint="#57606a",
    line="#8c959f",
    card="#ffffff",
    band="#eef1f4",
    used="#0063a6",
    on_used="#ffffff",
    idle="#fdebd3",
    hatch="#e8b878",
    busy="#c3cad2",
    ours="#e3f0fb",
    our_edge="#0063a6",
    our_ink="#00508a",
    held="#a83f00",
    passes="#00684a",
)
DARK = Palette(
    name="dark",
    pages=("#0d1117", "#212830", "#1e2129"),
    ink="#f0f6fc",
    faint="#a9b3bf",
    line="#6e7781",
    card="#0d1117",
    band="#262c36",
    used="#56b4e9",
    on_used="#0d1117",
    idle="#46310f",
    hatch="#a87628",
    busy="#4a535f",
    ours="#0f2d47",
    our_edge="#56b4e9",
    our_ink="#8fd0f7",
    held="#ff9d5c",
    passes="#4fd1a5",
)
THEMES = (LIGHT, DARK)


def contrast(one: str, other: str) -> float:
    """WCAG's contrast ratio of two colours `#rrggbb`, from 1 to 21."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    red, green, blue = (_linear(int(colour[at : at + 2], 16) / 255) for at in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4
