"""Kueue with its visibility API, which the shared control plane does without.

The stock program keeps that API's certificate in /visibility, where only root may write. Linked
with no folder at all it keeps it in memory; nothing else is different.
"""

import fcntl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

from localcluster import kueue
from localcluster.build import cache_key, cache_root
from localcluster.claim import ledger
from localcluster.cluster import Cluster, Component
from localcluster.kubectl import Kubectl
from localcluster.layout import HOST, load_layout, unused
from localcluster.modules import MODULE_ROOT, linker_flags, read_go_mod
from localcluster.toolchain import find_go
from tests.stack.objects import Object, named
from tests.stack.team import eventually

PACKAGE: Final = "sigs.k8s.io/kueue/cmd/kueue"
NO_FOLDER: Final = "-X sigs.k8s.io/kueue/pkg/visibility.certDir="
GROUP: Final = "visibility.kueue.x-k8s.io"
API: Final = f"v1beta2.{GROUP}"
RBAC: Final = "rbac.authorization.k8s.io/v1"
NAME: Final = "visibility-on-loopback"
OFF: Final = "--feature-gates="


def program() -> Path:
    """Kueue's manager, linked once and kept beside the other binaries."""
    go = find_go(read_go_mod(), say=print)
    target = cache_root() / f"{cache_key(MODULE_ROOT, go.version)}-visibility"
    with target.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (target / "kueue").is_file():
            partial = Path(tempfile.mkdtemp(prefix=f"{target.name}.partial-", dir=target.parent))
            flags = f"{linker_flags(read_go_mod().versions)} {NO_FOLDER}"
            go.output("build", "-ldflags", flags, "-o", str(partial / "kueue"), PACKAGE)
            partial.rename(target)
    return target / "kueue"


@contextmanager
def served(cluster: Cluster) -> Iterator[None]:
    """Kueue serves the API through the API server for the length of the block."""
    binary, before, [port] = program(), _component(cluster), unused(1)
    extra = dict(cluster.options.kueue_extra)
    at = {"visibilityServer": {"bindAddress": HOST, "bindPort": port}}
    try:
        cluster.configure_kueue(extra={**extra, **at})
        _run(cluster, _with_visibility(cluster, before, binary))
        cluster.apply(_objects(port))
        eventually(lambda: _is_served(cluster), "the visibility API", within=120)
        yield
    finally:
        cluster.kubectl("delete", "apiservice", API, "--ignore-not-found")
        for kind in ("clusterrolebinding", "clusterrole"):
            cluster.kubectl("delete", kind, NAME, "--ignore-not-found")
        _run(cluster, before)
        cluster.configure_kueue(extra=extra)


def _component(cluster: Cluster) -> Component:
    [found] = [one for one in ledger(cluster.state_dir).processes() if one.name == "kueue"]
    return found.component


def _with_visibility(cluster: Cluster, component: Component, binary: Path) -> Component:
    kubeconfig = cluster.kubeconfig(kueue.SERVICE_ACCOUNT)
    kept = [one for one in component.arguments if not one.startswith(OFF)]
    return replace(component, binary=binary, arguments=(*kept, f"--kubeconfig={kubeconfig}"))


def _run(cluster: Cluster, component: Component) -> None:
    cluster.stop("kueue")
    cluster.spawn(component)
    kueue.await_webhooks(Kubectl(load_layout(cluster.state_dir)))


def _objects(port: int) -> list[Object]:
    """The API is found where the Service, an ExternalName for localhost, leads with this port.

    The API server has no certificate for such calls here, so to Kueue they are nobody's: who may
    make them is decided by the API server alone.
    """
    place = {"name": "kueue-visibility-server", "namespace": kueue.NAMESPACE, "port": port}
    service = named("APIService", "apiregistration.k8s.io/v1", API, None) | {
        "spec": {
            "group": GROUP,
            "version": "v1beta2",
            "groupPriorityMinimum": 100,
            "versionPriority": 100,
            "insecureSkipTLSVerify": True,
            "service": place,
        }
    }
    rules = [
        {"apiGroups": [GROUP], "resources": ["*"], "verbs": ["get"]},
        {"nonResourceURLs": [f"/apis/{GROUP}/*"], "verbs": ["get"]},
    ]
    role = named("ClusterRole", RBAC, NAME, None) | {"rules": rules}
    ref = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": NAME}
    nobody = {
        "apiGroup": "rbac.authorization.k8s.io",
        "kind": "User",
        "name": "system:anonymous",
    }
    binding = named("ClusterRoleBinding", RBAC, NAME, None)
    return [role, binding | {"roleRef": ref, "subjects": [nobody]}, service]


def _is_served(cluster: Cluster) -> bool:
    status = "jsonpath={.status.conditions[?(@.type=='Available')].status}"
    return cluster.kubectl("get", "apiservice", API, "-o", status) == "True"
