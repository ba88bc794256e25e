"""The site: what breaks its build, what of the repository is in it, and whom it asks."""

import re
import subprocess
from collections import Counter
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from markdown import Markdown
from mkdocs.config import load_config

from docsite.repository import PREFIX, paths
from tests.docs.github import PARSER, ROOT, Document, documents
from tests.docs.site import build, small_repository

NAV = "  - index.md\n  - below/page.md\n  - repository/CHANGELOG.md\n"
FILES = {
    "docs/index.md": "# Start\n\n[page](below/page.md#a-heading)\n",
    "docs/below/page.md": (
        "# Page\n\n## A heading\n\n[start](../index.md), [build](../../Dockerfile), "
        "[code](../../manifests), [changes](../../CHANGELOG.md#newest)\n"
    ),
    "CHANGELOG.md": "# Changes\n\n## Newest\n\n[page](docs/below/page.md), [build](Dockerfile)\n",
    "Dockerfile": "FROM scratch\n",
    "manifests/install.yaml": "a: b\n",
}
BROKEN = {
    "a dead link": ("docs/index.md", "[a](below/paeg.md)", "below/paeg.md"),
    "a dead anchor": ("docs/index.md", "[a](below/page.md#headings)", "below/page.md#headings"),
    "a dead anchor of its own": ("docs/index.md", "[a](#nothing)", "#nothing"),
    "a page outside the navigation": ("docs/lost.md", "# Lost\n", "lost.md"),
    "a file outside docs that is not there": ("docs/index.md", "[a](../Dokcerfile)", "Dokcerfile"),
    "a file outside the repository": ("docs/index.md", "[a](../../secret.txt)", "secret.txt"),
    "an absolute link": ("docs/index.md", "[a](/below/page.md)", "/below/page.md"),
    "an image that is not there": ("docs/index.md", "![a](a.svg)", "a.svg"),
    "a dead link outside docs": ("CHANGELOG.md", "[a](docs/paeg.md)", "paeg.md"),
    "a dead anchor into a page outside docs": (
        "docs/index.md",
        "[a](../CHANGELOG.md#oldest)",
        "#oldest",
    ),
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of the repository."""
    folder = tmp_path_factory.mktemp("site")
    run = build(ROOT, folder)
    assert run.passed, run.warnings
    return folder


@pytest.mark.parametrize(("file", "text", "named"), BROKEN.values(), ids=BROKEN.keys())
def test_the_build_fails_over(file: str, text: str, named: str, tmp_path: Path) -> None:
    """Each of these is an error, and the message names it."""
    files = {**FILES, file: f"{FILES.get(file, '')}\n{text}\n"}
    (tmp_path / "secret.txt").write_text("not ours")
    run = build(small_repository(tmp_path / "repository", files, NAV), tmp_path / "site")
    assert not run.passed
    assert named in run.warnings


def test_the_build_fails_over_a_page_in_the_navigation_that_is_not_there(tmp_path: Path) -> None:
    """The navigation is checked in both directions."""
    run = build(small_repository(tmp_path, FILES, f"{NAV}  - lost.md\n"), tmp_path / "site")
    assert not run.passed
    assert "lost.md" in run.warnings


def test_links_out_of_docs_lead_to_what_they_name(tmp_path: Path) -> None:
    """A file becomes text, a page of the navigation a page; a folder is no link."""
    run = build(small_repository(tmp_path, FILES, NAV), tmp_path / "site")
    assert run.passed, run.warnings
    page = (tmp_path / "site" / "below" / "page.html").read_text()
    changes = (tmp_path / "site" / "repository" / "CHANGELOG.html").read_text()
    text = tmp_path / "site" / "repository" / "Dockerfile.txt"
    assert text.read_text() == "FROM scratch\n"
    assert '<a href="../repository/Dockerfile.txt">build</a>' in page
    assert '<a href="../repository/CHANGELOG.html#newest">changes</a>' in page
    assert "<span>code</span>" in page
    assert '<a href="../below/page.html">page</a>' in changes
    assert '<a href="Dockerfile.txt">build</a>' in changes


def test_make_check_builds_the_site_strictly() -> None:
    """What these tests show is what `make check` does."""
    run = subprocess.run(
        ["make", "--dry-run", "--old-file=.venv/.installed", "check"],  # noqa: S607 - the developer's
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert re.search(r"mkdocs build --strict$", run.stdout, re.MULTILINE)


class _Html(HTMLParser):
    """A page of the site: what it leads to, what a browser fetches for it, what can be led to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.ids: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Reads the attributes that name places."""
        found = {key: value for key, value in attrs if value}
        named = [found[key] for key in ("src", "href", "data", "srcset") if key in found]
        (self.links if tag == "a" else self.fetched).extend(named)
        self.ids |= {found["id"]} if "id" in found else set()

    @property
    def elsewhere(self) -> list[str]:
        """What is fetched from another site."""
        return [url for url in self.fetched if re.match(r"\w+:|//", url)]


FETCHED = {
    "a script": ('<script src="https://unpkg.com/a.js"></script>', ["https://unpkg.com/a.js"]),
    "a font": ('<link href="//fonts.example.com">', ["//fonts.example.com"]),
    "a picture": ('<img src="http://example.com/a.png">', ["http://example.com/a.png"]),
    "nothing but a link": ('<a href="https://example.com">a</a>', []),
    "what is beside it": ('<img src="../a.png"><script src="a.js"></script>', []),
}


@pytest.mark.parametrize(("text", "found"), FETCHED.values(), ids=FETCHED.keys())
def test_what_is_fetched_from_elsewhere_is_seen(text: str, found: list[str]) -> None:
    """Only what a browser fetches by itself counts."""
    assert _Html(text).elsewhere == found


def test_a_reader_asks_nobody_else(built: Path) -> None:
    """No font, script, style or picture comes from another site; none is fetched by a script."""
    pages = sorted(built.rglob("*.html"))
    assert len(pages) > 20
    assert {page.name: _Html(page.read_text()).elsewhere for page in pages} == {
        page.name: [] for page in pages
    }
    # The theme fetches what draws these diagrams when a page has one.
    assert [page for page in pages if 'class="mermaid"' in page.read_text()] == []
    for style in built.rglob("*.css"):
        assert not re.search(r"(url\(|@import)\s*[\"']?(https?:)?//", style.read_text())


def _dead(site: Path) -> list[tuple[str, str]]:
    pages = {page: _Html(page.read_text()) for page in site.rglob("*.html")}
    pages.pop(site / "404.html")  # Its links begin at the root of wherever it is served.
    dead = []
    for page, html in pages.items():
        for link in (*html.links, *html.fetched):
            scheme, host, path, _query, anchor = urlsplit(link)
            target = (page.parent / unquote(path)).resolve() if path else page
            lacks = anchor and target in pages and anchor not in pages[target].ids
            if not scheme and not host and (lacks or not target.is_file()):
                dead.append((page.name, link))
    return dead


def test_every_link_of_the_site_leads_somewhere(built: Path) -> None:
    """Files and anchors are there, in HTML that the build does not look into too."""
    assert _dead(built) == []


def test_a_dead_link_in_html_is_seen(tmp_path: Path) -> None:
    """What a page says in HTML passes the build as it is."""
    html = '\n<p><img src="a.svg"> <a href="below/page.html#b">b</a></p>\n'
    files = {**FILES, "docs/index.md": f"{FILES['docs/index.md']}{html}"}
    site = tmp_path / "site"
    assert build(small_repository(tmp_path / "repository", files, NAV), site).passed
    added = {("index.html", "a.svg"), ("index.html", "below/page.html#b")}
    assert added <= {*_dead(site)}


def test_the_search_knows_every_page(built: Path) -> None:
    """Its index is a file of the site."""
    index = (built / "search" / "search_index.json").read_text()
    for document in documents():
        if document.path.is_relative_to(ROOT / "docs") and document.path.name != "README.md":
            place = document.path.relative_to(ROOT / "docs").with_suffix(".html")
            assert f'"{place}"' in index


COUNTED = re.compile(r"<(blockquote|h[1-6]|img|li|ol|pre|td|th|ul)\b")
ANCHOR = re.compile(r'<a class="headerlink".*?</a>')

Look = tuple[Counter[str], list[str]]
"""What a rendered page has of each element, and its words."""


def _look(html: str) -> Look:
    visible = re.sub(r"<!--.*?-->", "", ANCHOR.sub("", html), flags=re.DOTALL)
    return Counter(COUNTED.findall(html)), unescape(re.sub(r"<[^>]*>", "", visible)).split()


CONFIG: Any = load_config(str(ROOT / "mkdocs.yml"))


def _as_the_site(text: str) -> Look:
    site = Markdown(extensions=CONFIG.markdown_extensions, extension_configs=CONFIG.mdx_configs)
    return _look(site.convert(text))


def _as_github(text: str) -> Look:
    return _look(PARSER.render(text))


DIFFERENT = {
    "a list right below a sentence": "A sentence:\n- one\n- two\n",
    "a list in a list, with two spaces": "- one\n  - two\n",
    "a pipe in code in a table": "| a | b |\n|---|---|\n| `c \\| d` | e |\n",
}


@pytest.mark.parametrize("text", DIFFERENT.values(), ids=DIFFERENT.keys())
def test_what_the_site_reads_otherwise_is_seen(text: str) -> None:
    """The two dialects differ in these, which is why pages are compared."""
    assert _as_the_site(text) != _as_github(text)


NAMED = {path.removeprefix(f"{PREFIX}/") for path in paths(CONFIG.nav)}
IN_THE_SITE = [
    one
    for one in documents()
    if one.path.is_relative_to(ROOT / "docs") or str(one.path.relative_to(ROOT)) in NAMED
]


@pytest.mark.parametrize("document", IN_THE_SITE, ids=lambda one: str(one.path.relative_to(ROOT)))
def test_a_page_reads_the_same_on_github(document: Document) -> None:
    """Lists, tables, headings, code and pictures are as many, and the words are the same."""
    text = document.path.read_text()
    assert _as_the_site(text) == _as_github(text)
