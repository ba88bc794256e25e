"""The interface: one real control plane, kept in one folder.

What is done in which order is in `startup.py`, what each component is in the file of its name.
Any process may open a cluster that another one started: all state is in the folder.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from localcluster import identity, kueue, processes, users
from localcluster.build import build, module_folders
from localcluster.claim import claimed, ledger
from localcluster.component import Component
from localcluster.fleet import Fleet, Status
from localcluster.identity import ADMIN
from localcluster.kubectl import Kubectl
from localcluster.layout import Layout, free_ports, load_layout
from localcluster.manifests import Object
from localcluster.options import Options
from localcluster.processes import Process
from localcluster.reads import ROOTS, Reads
from localcluster.startup import bring_up

__all__ = ["Cluster", "Component", "Options"]


class Cluster:
    """A control plane in a state folder; `say` gets a line at each step of `up`."""

    def __init__(self, state_dir: Path, *, say: Callable[[str], None] = lambda _: None) -> None:
        self.state_dir = state_dir.absolute()
        self._say = say

    def up(self, options: Options | None = None) -> None:
        """Start everything and return when it is ready; on any failure nothing is left running.

        Raises StateRefused if the folder is in use, BuildFailed, or ComponentFailed.
        """
        options = options or Options()
        bin_dir = build(say=self._say)
        modules = module_folders(say=self._say)
        with claimed(self.state_dir):
            layout = Layout(self.state_dir, free_ports(), bin_dir, modules)
            layout.save()
            self._remember(options)
            try:
                bring_up(layout, options, self._say)
            except BaseException:
                self.down()
                raise

    def down(self) -> None:
        """End exactly what was started; logs and audit log stay until the next `up`."""
        started = ledger(self.state_dir)
        in_order = started.processes()
        # The API server does not end in time without its store, which was started first.
        processes.end(reversed(in_order[1:]))
        processes.end(in_order[:1])
        started.clear()
        self._say(f"ended {len(in_order)} processes")

    @contextmanager
    def running(self, options: Options | None = None) -> Iterator["Cluster"]:
        """`up` on entering, `down` on leaving."""
        self.up(options)
        try:
            yield self
        finally:
            self.down()

    def is_up(self) -> bool:
        """Is any process of it running?"""
        return any(process.is_alive() for process in ledger(self.state_dir).processes())

    def status(self) -> list[Status]:
        """Every process that was started, dead ones too."""
        return self._fleet.status()

    @property
    def bin_dir(self) -> Path:
        """The folder of the binaries, kubectl among them."""
        return self._layout.bin_dir

    @property
    def api_url(self) -> str:
        """Where the API server listens."""
        return self._layout.api_url

    @property
    def audit_log(self) -> Path:
        """The audit log, to be read with `localcluster.audit`."""
        return self._layout.audit_log

    @property
    def authority(self) -> Path:
        """The CA certificate that the API server's own certificate is signed by."""
        return self._layout.authority

    @property
    def options(self) -> Options:
        """What it was started with, or what `configure_kueue` made of it."""
        return Options.from_json(json.loads(self._options_file.read_text()))

    def kubeconfig(self, user: str = ADMIN) -> Path:
        """The kubeconfig of admin, alice, or a name given to `write_kubeconfig`."""
        return self._layout.kubeconfig(user)

    def write_kubeconfig(self, name: str, token: str) -> Path:
        """Write a kubeconfig with this token; `name` is then good for `user=` elsewhere."""
        return identity.write_kubeconfig(self._layout, name, token)

    def token(self, namespace: str, service_account: str) -> str:
        """A token of the service account, good for a year."""
        return self._kubectl().token(namespace, service_account)

    def kubectl(self, *arguments: str | Path, stdin: str | None = None, user: str = ADMIN) -> str:
        """Run kubectl as the user and return stdout; KubectlError carries its stderr."""
        return self._kubectl(user)(*arguments, stdin=stdin)

    def apply(
        self, objects: Sequence[Object], *, user: str = ADMIN, server_side: bool = True
    ) -> None:
        """Apply all objects in one call."""
        self._kubectl(user).apply(objects, server_side=server_side)

    def get(
        self,
        kind: str,
        name: str | None = None,
        namespace: str | None = None,
        selector: str | None = None,
    ) -> Any:
        """One object if a name is given, else a List, over all namespaces if none is given."""
        if kind in ROOTS and selector is None:
            return self._reads.get(kind, name, namespace)
        return self._kubectl().get(kind, name, namespace=namespace, selector=selector)

    def grant(self, namespace: str, user: str) -> None:
        """Let a plain user submit and see training jobs in the namespace."""
        self.apply([users.grant(namespace, user)])

    def spawn(self, component: Component) -> Process:
        """Run a further process under the same bookkeeping; returns when it is ready."""
        return self._fleet.spawn(component)

    def start(self, name: str) -> None:
        """Start a component that is dead, with the same arguments; returns when it is ready."""
        self._fleet.start(name)

    def stop(self, name: str) -> None:
        """End a component, with SIGTERM first."""
        self._fleet.stop(name)

    def kill(self, name: str) -> None:
        """End a component with SIGKILL."""
        self._fleet.kill(name)

    def restart(self, name: str) -> None:
        """Stop and start a component; returns when it is ready."""
        self.stop(name)
        self.start(name)

    def configure_kueue(
        self,
        *,
        frameworks: Sequence[str] | None = None,
        manage_all: bool | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        """Restart Kueue with another configuration; None leaves a setting as it is.

        Returns when Kueue's webhooks answer again.
        """
        old = self.options
        options = replace(
            old,
            frameworks=old.frameworks if frameworks is None else tuple(frameworks),
            manage_all=old.manage_all if manage_all is None else manage_all,
            kueue_extra=old.kueue_extra if extra is None else extra,
        )
        self.stop("kueue")
        try:
            self.apply([kueue.configure(self._layout, options)])
        finally:
            self.start("kueue")
        kueue.await_webhooks(self._kubectl())
        self._remember(options)

    @cached_property
    def _reads(self) -> Reads:
        return Reads(self.kubeconfig())

    @property
    def _layout(self) -> Layout:
        return load_layout(self.state_dir)

    @property
    def _fleet(self) -> Fleet:
        return Fleet(self._layout)

    @property
    def _options_file(self) -> Path:
        return self.state_dir / "options.json"

    def _kubectl(self, user: str = ADMIN) -> Kubectl:
        return Kubectl(self._layout, user)

    def _remember(self, options: Options) -> None:
        self._options_file.write_text(json.dumps(options.as_json()))
