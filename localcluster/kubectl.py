"""The one way to the API server: the kubectl that was built with it."""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

import yaml

from localcluster.errors import KubectlError
from localcluster.identity import ADMIN
from localcluster.layout import Layout
from localcluster.manifests import Object

FIELD_MANAGER = "localcluster"
_FAST_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Kubectl:
    """kubectl as one user."""

    def __init__(self, layout: Layout, user: str = ADMIN) -> None:
        self._command = (
            str(layout.bin_dir / "kubectl"),
            f"--kubeconfig={layout.kubeconfig(user)}",
            f"--cache-dir={layout.root / 'kubectl-cache'}",
        )

    def __call__(self, *arguments: str | Path, stdin: str | None = None) -> str:
        """Run and return stdout; KubectlError if it exits non-zero."""
        given = [str(argument) for argument in arguments]
        result = subprocess.run(
            [*self._command, *given], input=stdin, capture_output=True, text=True, check=False
        )
        if result.returncode:
            raise KubectlError(given, result.stderr)
        return result.stdout

    def apply(self, objects: Sequence[Object], *, server_side: bool = True) -> None:
        """Apply all objects in one call, in this order."""
        if not objects:
            return
        how = (
            ("--server-side", "--force-conflicts", f"--field-manager={FIELD_MANAGER}")
            if server_side
            else ()
        )
        # JSON, because writing the larger definitions as YAML takes seconds.
        items = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
        self("apply", *how, "-f", "-", stdin=json.dumps(items))

    def get(
        self,
        kind: str,
        name: str | None = None,
        *,
        namespace: str | None = None,
        selector: str | None = None,
    ) -> Object:
        """One object, or a List; the namespace None means all of them where no name is given."""
        where = ("-n", namespace) if namespace else () if name else ("-A",)
        which = ("-l", selector) if selector else ()
        named = (name,) if name else ()
        answer: Object = json.loads(self("get", kind, *named, *where, *which, "-o", "json"))
        return answer

    def token(self, namespace: str, service_account: str) -> str:
        """A token of the service account that outlives any development cluster."""
        request = ("create", "token", service_account, "-n", namespace, "--duration=8760h")
        return self(*request).strip()

    def render(self, folder: Path) -> list[Object]:
        """What `kubectl kustomize` makes of the folder."""
        text = self("kustomize", folder, "--load-restrictor=LoadRestrictionsNone")
        return [item for item in yaml.load_all(text, Loader=_FAST_LOADER) if item]
