"""What go.mod says: the one place where upstream versions are written.

Pure text reading. Asking Go itself where a module lies is `toolchain.py`'s business.
"""

import re
from dataclasses import dataclass
from pathlib import Path

MODULE_ROOT = Path(__file__).resolve().parent
PROJECT_ROOT = MODULE_ROOT.parent

KUBERNETES = "k8s.io/kubernetes"
KUEUE = "sigs.k8s.io/kueue"
JOBSET = "sigs.k8s.io/jobset"
TRAINER = "github.com/kubeflow/trainer/v2"
KWOK = "sigs.k8s.io/kwok"
WITH_MANIFESTS = (KUEUE, JOBSET, TRAINER, KWOK)

_REQUIREMENT = re.compile(r"^\s*(?:require\s+)?(\S+) (v\S+)(?: //.*)?$", re.MULTILINE)
_GO_LINE = re.compile(r"^go (\d+(?:\.\d+)*)$", re.MULTILINE)
_VERSION_PACKAGES = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")


@dataclass(frozen=True)
class GoMod:
    """The facts of one go.mod: the Go version it asks for and the version of every module."""

    go: tuple[int, ...]
    versions: dict[str, str]


def read_go_mod(folder: Path = MODULE_ROOT) -> GoMod:
    """Parse the folder's go.mod."""
    return parse_go_mod((folder / "go.mod").read_text())


def parse_go_mod(text: str) -> GoMod:
    """Parse go.mod; ValueError if it has no `go` line."""
    line = _GO_LINE.search(text)
    if line is None:
        raise ValueError("go.mod has no `go` line")
    return GoMod(go=version_tuple(line[1]), versions=dict(_REQUIREMENT.findall(text)))


def version_tuple(version: str) -> tuple[int, ...]:
    """`go1.26.8`, `v1.36.3` or `1.26` as numbers; a suffix such as `rc1` is dropped."""
    numbers = re.match(r"\D*(\d+(?:\.\d+)*)", version)
    return tuple(int(number) for number in numbers[1].split(".")) if numbers else ()


def linker_flags(versions: dict[str, str]) -> str:
    """Flags that make the binaries say Kubernetes' version: without them the server is v0.0.0."""
    version = versions[KUBERNETES]
    major, minor, *_ = version_tuple(version)
    values = {"gitVersion": version, "gitMajor": major, "gitMinor": minor}
    settings = (
        f"-X {package}.{key}={value}"
        for package in _VERSION_PACKAGES
        for key, value in values.items()
    )
    return " ".join(("-s -w", *settings))
