"""The cache of builds, and what go.mod says."""

from pathlib import Path

import pytest

from localcluster.build import cache_key
from localcluster.modules import (
    KUBERNETES,
    WITH_MANIFESTS,
    linker_flags,
    parse_go_mod,
    read_go_mod,
    version_tuple,
)

GO_MOD = """module example.io/m

go 1.26.0

require k8s.io/kubernetes v1.36.3

require (
\tsigs.k8s.io/kueue v0.19.2
\tgithub.com/a/b v1.0.0 // indirect
)

replace k8s.io/api => k8s.io/api v0.36.3
"""


@pytest.fixture
def module(tmp_path: Path) -> Path:
    """A folder with a go.mod and a go.sum."""
    (tmp_path / "go.mod").write_text(GO_MOD)
    (tmp_path / "go.sum").write_text("sums\n")
    return tmp_path


def test_same_inputs_give_the_same_key(module: Path) -> None:
    """The same module and the same Go find the same build."""
    assert cache_key(module, "go1.26.8") == cache_key(module, "go1.26.8")


@pytest.mark.parametrize("changed", ["go.mod", "go.sum"])
def test_a_changed_module_gives_another_key(module: Path, changed: str) -> None:
    """A change of either file means another build."""
    before = cache_key(module, "go1.26.8")
    (module / changed).write_text("something else\n")
    assert cache_key(module, "go1.26.8") != before


def test_another_go_gives_another_key(module: Path) -> None:
    """Another Go version means another build."""
    assert cache_key(module, "go1.26.8") != cache_key(module, "go1.26.9")


def test_content_moved_between_the_files_gives_another_key(module: Path) -> None:
    """The files count one by one, not as one text."""
    before = cache_key(module, "go1.26.8")
    (module / "go.mod").write_text(GO_MOD + "sums\n")
    (module / "go.sum").write_text("")
    assert cache_key(module, "go1.26.8") != before


def test_go_mod_gives_versions_and_the_go_line() -> None:
    """Requirements are read from lines and blocks; a replacement is no requirement."""
    go_mod = parse_go_mod(GO_MOD)
    assert go_mod.go == (1, 26, 0)
    assert go_mod.versions == {
        "k8s.io/kubernetes": "v1.36.3",
        "sigs.k8s.io/kueue": "v0.19.2",
        "github.com/a/b": "v1.0.0",
    }


def test_a_go_mod_without_go_line_is_refused() -> None:
    """Without a `go` line nobody could tell which Go is new enough."""
    with pytest.raises(ValueError, match="no `go` line"):
        parse_go_mod("module m\n")


def test_our_go_mod_names_every_module_that_is_read() -> None:
    """Every module whose manifests are read has a version in go.mod."""
    assert read_go_mod().versions.keys() >= {KUBERNETES, *WITH_MANIFESTS}


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("go1.26.8", (1, 26, 8)),
        ("go1.27rc1", (1, 27)),
        ("go1.26.8-X:nodwarf5", (1, 26, 8)),
        ("v1.36.3", (1, 36, 3)),
        ("devel", ()),
    ],
)
def test_versions_are_compared_as_numbers(version: str, expected: tuple[int, ...]) -> None:
    """A version's suffix does not count, its numbers do."""
    assert version_tuple(version) == expected


def test_linker_flags_carry_kubernetes_version() -> None:
    """The binaries are told the version that go.mod says, in both packages that report one."""
    flags = linker_flags({KUBERNETES: "v1.36.3"})
    for package in ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version"):
        assert f"-X {package}.gitVersion=v1.36.3" in flags
        assert f"-X {package}.gitMinor=36" in flags
