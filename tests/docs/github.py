"""Markdown files of the repository as GitHub reads them: links, anchors, blocks of code."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).resolve().parents[2]
PARSER = MarkdownIt("commonmark").enable("table")
PARENTLESS = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")


@dataclass(frozen=True)
class Fence:
    """A block of code: its language, its text and the line that it begins in."""

    language: str
    text: str
    line: int


class _Html(HTMLParser):
    """The links in a piece of HTML, such as a picture for each of two palettes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Every attribute that names a file."""
        self.links += [value for key, value in attrs if value and key in {"href", "src", "srcset"}]


@dataclass(frozen=True)
class Document:
    """One Markdown file."""

    path: Path

    @cached_property
    def tokens(self) -> list[Token]:
        """All tokens, those within a line in their place."""
        tokens: list[Token] = []
        for token in PARSER.parse(self.path.read_text()):
            tokens += [token, *(token.children or ())]
        return tokens

    @property
    def fences(self) -> Iterator[Fence]:
        """Its blocks of code."""
        for token in self.tokens:
            if token.type == "fence":
                yield Fence(token.info.strip(), token.content, (token.map or [0])[0] + 1)

    @property
    def links(self) -> Iterator[str]:
        """Targets of links and images, as they are written."""
        for token in self.tokens:
            if token.type in {"link_open", "image"}:
                yield str(token.attrGet("href") or token.attrGet("src"))
            elif token.type.startswith("html_"):
                yield from _Html(token.content).links

    @property
    def anchors(self) -> set[str]:
        """What GitHub calls its headings."""
        seen: Counter[str] = Counter()
        for opening, inline in zip(self.tokens, self.tokens[1:], strict=False):
            if opening.type == "heading_open":
                words = "".join(part.content for part in inline.children or ())
                seen[re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")] += 1
        return {f"{name}-{n}" if n else name for name in seen for n in range(seen[name])}

    @property
    def dead(self) -> Iterator[str]:
        """Links to files that are not there, and to anchors that are not in them."""
        for link in self.links:
            scheme, host, path, _query, anchor = urlsplit(link)
            if scheme or host:
                continue
            target = (self.path.parent / unquote(path)) if path else self.path
            if path.startswith("/") or not target.exists() or _lacks(target, anchor):
                yield link


def _lacks(target: Path, anchor: str) -> bool:
    return bool(anchor) and target.suffix == ".md" and anchor not in Document(target).anchors


def documents() -> list[Document]:
    """Every Markdown file that people read."""
    beside = [ROOT / name for name in PARENTLESS]
    below = [ROOT / folder for folder in ("bench", "certs", "docs", "examples", "localcluster")]
    return [
        Document(path) for path in [*beside, *(f for d in below for f in sorted(d.rglob("*.md")))]
    ]
