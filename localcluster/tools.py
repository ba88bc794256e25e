"""The tools that check the manifests, helm and promtool, from a Go module of their own.

They are built and cached as the control plane is, but apart: a change of one rebuilds only it.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

from localcluster.build import Plan, build
from localcluster.modules import PROJECT_ROOT, read_go_mod
from localcluster.toolchain import find_go

MODULE: Final = PROJECT_ROOT / "manifests" / "tools"
PLAN: Final = Plan(what="helm and promtool", minutes="3 to 5", module=MODULE, flags="-s -w")
DEFINITIONS: Final = {
    "github.com/cert-manager/cert-manager": "deploy/crds",
    "github.com/prometheus-operator/prometheus-operator": "example/prometheus-operator-crd",
}
"""Where other projects' CustomResourceDefinitions lie in their modules."""


def tools(*, say: Callable[[str], None] = lambda _: None) -> Path:
    """The folder that holds helm and promtool, which are built first if need be."""
    return build(PLAN, say=say)


def definition_folders(*, say: Callable[[str], None] = lambda _: None) -> list[Path]:
    """The folders of cert-manager's and the Prometheus operator's CustomResourceDefinitions."""
    go = replace(find_go(read_go_mod(MODULE), say=say), module=MODULE)
    go.output("mod", "download", *DEFINITIONS)
    listed = go.output("list", "-m", "-f", "{{.Path}} {{.Dir}}", *DEFINITIONS).splitlines()
    return [Path(folder, DEFINITIONS[module]) for module, folder in map(str.split, listed)]
