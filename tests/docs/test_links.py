"""On GitHub every relative link leads to a file, and every anchor to a heading."""

from pathlib import Path

import pytest

from tests.docs.github import ROOT, Document, documents

DOCUMENTS = documents()


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda one: str(one.path.relative_to(ROOT)))
def test_every_link_leads_somewhere(document: Document) -> None:
    """Files and anchors exist as GitHub names them."""
    assert list(document.dead) == []


def test_the_files_that_people_meet_first_are_looked_at() -> None:
    """The README and its neighbours are not in the site, so nothing else looks at their links."""
    names = {str(document.path.relative_to(ROOT)) for document in DOCUMENTS}
    top = {"README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"}
    assert top | {"certs/README.md"} <= names
    assert any(name.startswith("docs/how-to/") for name in names)


OTHER = "# Other\n\n## Who can forge what?\n\n## `code` & more\n\n## Twice\n\n## Twice\n"
LINKS = {
    "a file": ("[a](other.md)", []),
    "a file that is not there": ("[a](another.md)", ["another.md"]),
    "an anchor": ("[a](other.md#who-can-forge-what)", []),
    "an anchor with code and a sign": ("[a](other.md#code--more)", []),
    "the second of two headings": ("[a](other.md#twice-1)", []),
    "an anchor that is not there": ("[a](other.md#who)", ["other.md#who"]),
    "an anchor of its own": ("# Title\n\n[a](#title)", []),
    "an anchor that it has not": ("# Title\n\n[a](#titel)", ["#titel"]),
    "an image that is not there": ("![a](a.svg)", ["a.svg"]),
    "a picture in HTML": ('<img src="a.svg" alt="">', ["a.svg"]),
    "a picture of two": ('<picture><source srcset="a.svg"></picture>', ["a.svg"]),
    "an absolute path": ("[a](/other.md)", ["/other.md"]),
    "a reference": ("[a][b]\n\n[b]: another.md", ["another.md"]),
    "another site": ("[a](https://example.com/a.md)", []),
    "code that looks like a link": ("`[a](another.md)`\n\n```text\n[a](another.md)\n```", []),
}


@pytest.mark.parametrize(("text", "dead"), LINKS.values(), ids=LINKS.keys())
def test_a_dead_link_is_seen(text: str, dead: list[str], tmp_path: Path) -> None:
    """What is found dead is that, and nothing else."""
    (tmp_path / "other.md").write_text(OTHER)
    page = tmp_path / "page.md"
    page.write_text(text)
    assert list(Document(page).dead) == dead
