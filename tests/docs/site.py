"""The site, and small ones like it."""

import logging
import shutil
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from mkdocs.commands.build import build as build_site
from mkdocs.config import load_config
from mkdocs.exceptions import Abort

from tests.docs.github import ROOT

HOOK = Path("docsite") / "repository.py"


@dataclass(frozen=True)
class Run:
    """How a build ended, and what it warned of."""

    passed: bool
    warnings: str


def build(folder: Path, into: Path) -> Run:
    """What `make check` does, for the repository in `folder`."""
    told = StringIO()
    handler = logging.StreamHandler(told)
    handler.setLevel(logging.WARNING)
    logger = logging.getLogger("mkdocs")
    logger.addHandler(handler)
    try:
        config = load_config(str(folder / "mkdocs.yml"), strict=True, site_dir=str(into))
        build_site(config)
    except Abort:
        return Run(passed=False, warnings=told.getvalue())
    finally:
        logger.removeHandler(handler)
    return Run(passed=True, warnings=told.getvalue())


def small_repository(folder: Path, files: dict[str, str], nav: str) -> Path:
    """A repository with our own configuration, but for its files and its navigation."""
    ours, mark, _ = (ROOT / "mkdocs.yml").read_text().partition("\nnav:\n")
    files = {"mkdocs.yml": f"{ours}{mark}{nav}", **files}
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / HOOK).parent.mkdir()
    shutil.copy(ROOT / HOOK, folder / HOOK)
    return folder
