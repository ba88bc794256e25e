"""Our own webhook, installed as in a cluster: by the manifests, with their account and RBAC.

Only what a process on loopback needs differs from a cluster: the Service is an ExternalName and the
ports are free ones. The certificate is the webhook's own affair, as it is in a cluster.

An `Installation` says under which names it is installed and whom it serves, so that a test can have
one of its own beside the one that all share.
"""

import sys
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from localcluster.cluster import Cluster
from localcluster.component import Component
from localcluster.kubectl import Kubectl
from localcluster.layout import HOST, Layout, load_layout, unused
from localcluster.manifests import WEBHOOK_KINDS, Object, bundle, served_at
from localcluster.modules import PROJECT_ROOT
from localcluster.processes import Process

NAME = "webhook"
NAMESPACE = "kueue-steps-system"
ACCOUNT = "kueue-steps"
SERVICE = "kueue-steps"
REGISTRATION = "a-kueue-steps"
SECRET = "kueue-steps-tls"  # noqa: S105 - the name of one
BASE = PROJECT_ROOT / "manifests" / "base"


@dataclass(frozen=True)
class Installation:
    """The names of one installation, the namespaces that it serves, and its settings.

    `name` is that of its process, its log and its folder. `namespace_selector` takes the place of
    the manifests' own. `settings` are keys of the configuration as the environment spells them,
    without the prefix: {"CERTIFICATES__LEAF_LIFETIME": "15s"}.
    """

    name: str = NAME
    service: str = SERVICE
    registration: str = REGISTRATION
    secret: str = SECRET
    namespace_selector: Object | None = None
    settings: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def beside(cls, name: str, namespace: str, **settings: str) -> "Installation":
        """One of a test's own: every name is `name`, and it serves one namespace only.

        Its registrations sort before the shared ones, which then find a parent as they leave it
        and are not called for it.
        """
        return cls(
            name=name,
            service=name,
            registration=f"a-a-{name}",
            secret=f"{name}-tls",
            namespace_selector={"matchLabels": {"kubernetes.io/metadata.name": namespace}},
            settings=settings,
        )

    @property
    def is_shared(self) -> bool:
        """Is it the one of the manifests' own names?"""
        return self.registration == REGISTRATION


SHARED = Installation()


def install(cluster: Cluster, installation: Installation = SHARED) -> Process:
    """Apply the objects and serve; returns when reviews are answered."""
    layout = load_layout(cluster.state_dir)
    ports = unused(2)
    objects = bundle(manifests(layout, ports[0], installation))
    cluster.apply(objects.definitions)
    cluster.apply(objects.objects)
    cluster.apply(objects.webhooks)
    cluster.write_kubeconfig(ACCOUNT, cluster.token(NAMESPACE, ACCOUNT))
    text = configuration(Kubectl(layout).render(BASE))
    return cluster.spawn(component(layout, text, *ports, installation=installation))


def uninstall(cluster: Cluster, installation: Installation) -> None:
    """Delete the objects of an installation beside the shared one, and end its processes.

    Those are the one of its name and those whose names begin with it and a hyphen.
    """
    layout = load_layout(cluster.state_dir)
    webhooks_first = reversed(manifests(layout, 0, installation))
    for item in sorted(webhooks_first, key=lambda item: item["kind"] not in WEBHOOK_KINDS):
        _delete(cluster, item["kind"], item["metadata"]["name"], item["metadata"].get("namespace"))
    for name in {status.name for status in cluster.status()}:
        if f"{name}-".startswith(f"{installation.name}-"):
            cluster.stop(name)
    _delete(cluster, "secret", installation.secret, NAMESPACE)


def install_or_end(cluster: Cluster) -> None:
    """Install, or end the whole control plane: half of it is of no use."""
    try:
        install(cluster)
    except BaseException:
        cluster.down()
        raise


def manifests(layout: Layout, port: int, installation: Installation = SHARED) -> list[Object]:
    """The objects of an installation, leading to this port.

    The shared one is the rendered base; one beside it is what differs by name: Service,
    registrations and the rights to its own Secret and registrations.
    """
    rendered = served_at(Kubectl(layout).render(BASE), port)
    return rendered if installation.is_shared else renamed(rendered, installation)


def renamed(rendered: list[Object], installation: Installation) -> list[Object]:
    """Pure: the objects that another installation in the same namespace needs of its own."""
    names = {
        SERVICE: installation.service,
        REGISTRATION: installation.registration,
        SECRET: installation.secret,
        f"{SERVICE}-certificates": f"{installation.name}-certificates",
    }
    edits: dict[str, Callable[[Object], None]] = {
        "Service": lambda _: None,
        "Role": lambda item: _rename_rules(item, names),
        "ClusterRole": lambda item: _rename_rules(item, names),
        "RoleBinding": lambda item: _rename_role(item, names),
        "ClusterRoleBinding": lambda item: _rename_role(item, names),
        **dict.fromkeys(WEBHOOK_KINDS, lambda item: _rename_webhooks(item, installation)),
    }
    made = []
    for item in deepcopy(rendered):
        kind, old = item["kind"], item["metadata"]["name"]
        ours = kind == "Service" or kind in WEBHOOK_KINDS or old.endswith("-certificates")
        if ours and kind in edits:
            item["metadata"]["name"] = names[old]
            edits[kind](item)
            made.append(item)
    return made


def component(
    layout: Layout,
    text: str,
    port: int,
    operations: int,
    *,
    installation: Installation = SHARED,
) -> Component:
    """`kueue-steps serve` with the configuration of the manifests (text) on these ports."""
    path = layout.folder(installation.name) / "configuration.yaml"
    path.write_text(text)
    settings = {
        "SERVER__HOST": HOST,
        "SERVER__PORT": str(port),
        "SERVER__OPERATIONS_PORT": str(operations),
        # One API server, on the same machine.
        "CERTIFICATES__PUBLICATION_GRACE": "1s",
        "CERTIFICATES__SERVICE": installation.service,
        "CERTIFICATES__SECRET": installation.secret,
        "CERTIFICATES__MUTATING_CONFIGURATION": installation.registration,
        "CERTIFICATES__VALIDATING_CONFIGURATION": installation.registration,
        **installation.settings,
    }
    return Component(
        name=installation.name,
        binary=Path(sys.executable),
        arguments=("-m", "webhook", "serve", f"--config={path}"),
        environment={
            "KUBECONFIG": str(layout.kubeconfig(ACCOUNT)),
            **{f"KUEUE_STEPS_{key}": value for key, value in settings.items()},
        },
        ready=f"http://{HOST}:{operations}/readyz",
    )


def configuration(objects: list[Object]) -> str:
    """The configuration file among rendered manifests."""
    maps: list[dict[str, Any]] = [item for item in objects if item["kind"] == "ConfigMap"]
    content: str = maps[0]["data"]["configuration.yaml"]
    return content


def _rename_rules(item: Object, names: Mapping[str, str]) -> None:
    for rule in item["rules"]:
        if "resourceNames" in rule:
            rule["resourceNames"] = [names[name] for name in rule["resourceNames"]]


def _rename_role(item: Object, names: Mapping[str, str]) -> None:
    item["roleRef"]["name"] = names[item["roleRef"]["name"]]


def _rename_webhooks(item: Object, installation: Installation) -> None:
    for webhook in item["webhooks"]:
        webhook["clientConfig"]["service"]["name"] = installation.service
        if installation.namespace_selector is not None:
            webhook["namespaceSelector"] = installation.namespace_selector


def _delete(cluster: Cluster, kind: str, name: str, namespace: str | None) -> None:
    where = ("-n", namespace) if namespace else ()
    cluster.kubectl("delete", kind, name, *where, "--ignore-not-found", "--wait=false")
