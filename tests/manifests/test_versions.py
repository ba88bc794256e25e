"""One version of kueue-steps everywhere, and one of what the tools are built from."""

import tomllib

import yaml

from localcluster.modules import read_go_mod
from localcluster.tools import DEFINITIONS, MODULE
from tests.manifests.renderings import MANIFESTS
from webhook import __version__

PROJECT = tomllib.loads((MANIFESTS.parent / "pyproject.toml").read_text())["project"]
LABEL = "app.kubernetes.io/version"
SHARED = ("k8s.io/api", "k8s.io/apimachinery", "k8s.io/client-go")


def test_every_way_installs_the_version_of_the_project() -> None:
    """The image, the label and the chart say what pyproject.toml says."""
    kustomization = yaml.safe_load((MANIFESTS / "base" / "kustomization.yaml").read_text())
    chart = yaml.safe_load((MANIFESTS / "chart" / "Chart.yaml").read_text())
    assert __version__ == PROJECT["version"]
    assert [image["newTag"] for image in kustomization["images"]] == [__version__]
    assert chart["appVersion"] == __version__


def test_every_kustomization_labels_with_the_same_version() -> None:
    """Components label their own objects as the base does."""
    files = [*MANIFESTS.glob("base/kustomization.yaml"), *MANIFESTS.glob("components/*/*.yaml")]
    kustomizations = [
        yaml.safe_load(path.read_text()) for path in files if path.name == "kustomization.yaml"
    ]
    labels = [item["labels"] for item in kustomizations if "labels" in item]
    assert labels
    assert all(label == labels[0] for label in labels)
    assert labels[0][0]["pairs"][LABEL] == __version__


def test_the_tools_share_kubernetes_modules_with_the_control_plane() -> None:
    """The same versions are compiled once for both."""
    control_plane, own = read_go_mod(), read_go_mod(MODULE)
    assert own.go == control_plane.go
    kubernetes = {control_plane.versions["k8s.io/kubernetes"].replace("v1.", "v0.")}
    assert {own.versions[module] for module in SHARED} == kubernetes


def test_definitions_come_from_modules_that_are_pinned() -> None:
    """Every module whose definitions the tests apply has a version in go.mod."""
    assert DEFINITIONS.keys() <= read_go_mod(MODULE).versions.keys()
