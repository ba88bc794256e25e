"""Links out of docs/, in the site: a hook of mkdocs.

Pages link to other files of the repository as GitHub needs it (`../../Dockerfile`). The site has no
such places, so each linked file is published below `repository/`: as a page where the navigation
names it there, as plain text otherwise. What is not there is left to mkdocs, which warns of it.
"""

from pathlib import Path
from posixpath import relpath
from typing import Any, Final
from urllib.parse import unquote, urlsplit, urlunsplit
from xml.etree.ElementTree import Element

from markdown import Extension, Markdown
from markdown.treeprocessors import Treeprocessor
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

PREFIX: Final = "repository"
SHOWN: Final = frozenset({".gif", ".png", ".svg"})
"""Suffixes of files that browsers show as they are; a suffix more makes them show any other."""


class _Links(Treeprocessor):  # type: ignore[misc]
    """Leads each link of one page to where its target is in the site."""

    def __init__(self, config: MkDocsConfig) -> None:
        super().__init__()
        self.docs = Path(config.docs_dir)
        self.root = Path(config.config_file_path).parent
        self.config = config
        self.files = Files([])
        self.page: File | None = None

    def run(self, root: Element) -> None:
        """Rewrites what leads out of docs/, or from outside into it."""
        for element in root.iter():
            if element.tag in {"a", "img"}:
                self._lead(element, "href" if element.tag == "a" else "src")

    def _lead(self, element: Element, key: str) -> None:
        scheme, host, path, query, anchor = urlsplit(element.get(key, ""))
        if scheme or host or not path or path.startswith("/") or not (page := self.page):
            return
        target = (Path(page.abs_src_path or "").parent / unquote(path)).resolve()
        if target.is_dir() and target.is_relative_to(self.root):
            element.tag = "span"  # GitHub lists a folder, a site can't.
            del element.attrib[key]
        elif uri := self._uri(target):
            path = relpath(uri, page.src_uri.rpartition("/")[0] or ".")
            element.set(key, urlunsplit(("", "", path, query, anchor)))

    def _uri(self, target: Path) -> str | None:
        """What mkdocs knows the file by; it is published if it was not yet."""
        if target.is_relative_to(self.docs):
            return target.relative_to(self.docs).as_posix()
        if not target.is_file() or not target.is_relative_to(self.root):
            return None
        uri = f"{PREFIX}/{target.relative_to(self.root).as_posix()}"
        if self.files.get_file_from_path(uri):
            return uri
        published = uri if target.suffix in SHOWN else f"{uri}.txt"
        if self.files.get_file_from_path(published) is None:
            self.files.append(_file(self.config, published, target))
        return published


class _Repository(Extension):  # type: ignore[misc]
    """Brings `_Links` into each page's Markdown, after all that makes links."""

    def __init__(self, links: _Links) -> None:
        super().__init__()
        self.links = links

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 - Markdown's name
        """Priority 1: mkdocs looks at links with 0."""
        md.treeprocessors.register(self.links, "repository", 1)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Adds our part to the Markdown of every page."""
    extensions: list[Any] = config.markdown_extensions
    extensions.append(_Repository(_Links(config)))
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages outside docs/ that the navigation names."""
    links = _links(config)
    links.files = files
    for uri in paths(config.nav):
        target = links.root / uri.removeprefix(f"{PREFIX}/")
        if uri.startswith(f"{PREFIX}/") and target.is_file():
            files.append(_file(config, uri, target))
    return files


def on_page_markdown(_markdown: str, page: Page, config: MkDocsConfig, **_rest: Any) -> None:
    """Remembers whose links come next."""
    _links(config).page = page.file


def _links(config: MkDocsConfig) -> _Links:
    (found,) = (one for one in config.markdown_extensions if isinstance(one, _Repository))
    return found.links


def _file(config: MkDocsConfig, uri: str, target: Path) -> File:
    return File.generated(config, uri, abs_src_path=str(target))


def paths(nav: Any) -> list[str]:
    """Every path in the navigation, which nests lists and dicts."""
    if isinstance(nav, str):
        return [nav]
    parts = nav.values() if isinstance(nav, dict) else nav or []
    return [path for part in parts for path in paths(part)]
