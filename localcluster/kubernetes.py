"""etcd and Kubernetes itself: API server, controllers, scheduler."""

from typing import Any

import yaml

from localcluster.component import Component, flags
from localcluster.identity import ADMIN, SERVICE_NETWORK
from localcluster.layout import HOST, Layout

# node-lifecycle stays on: it takes the not-ready taint off the nodes. KWOK's stages bind volumes.
DISABLED_CONTROLLERS = (
    "cloud-node-lifecycle-controller",
    "node-ipam-controller",
    "node-route-controller",
    "persistentvolume-attach-detach-controller",
    "persistentvolume-binder-controller",
    "persistentvolume-expander-controller",
    "service-lb-controller",
)
AUDITED = {
    "batch": "jobs",
    "jobset.x-k8s.io": "jobsets",
    "trainer.kubeflow.org": "trainjobs",
    "kueue.x-k8s.io": "workloads",
}
WRITES = ("create", "update", "patch", "delete", "deletecollection")
# Large enough that the log is never rotated away from under a reader.
AUDIT_MEGABYTES = 100_000


def etcd(layout: Layout) -> Component:
    """The store; without fsync, because nothing here has to survive a power cut."""
    client = f"http://{HOST}:{layout.ports.etcd}"
    peer = f"http://{HOST}:{layout.ports.etcd_peer}"
    return Component(
        name="etcd",
        binary=layout.bin_dir / "etcd",
        arguments=flags(
            data_dir=layout.root / "etcd",
            unsafe_no_fsync=True,
            listen_client_urls=client,
            advertise_client_urls=client,
            listen_peer_urls=peer,
            initial_advertise_peer_urls=peer,
            initial_cluster=f"default={peer}",
            log_level="warn",
        ),
        ready=f"{client}/readyz",
    )


def api_server(layout: Layout) -> Component:
    """The API server, with RBAC, token users and a blocking audit log."""
    pki = layout.root / "pki"
    return Component(
        name="kube-apiserver",
        binary=layout.bin_dir / "kube-apiserver",
        arguments=flags(
            etcd_servers=f"http://{HOST}:{layout.ports.etcd}",
            bind_address=HOST,
            advertise_address=HOST,
            secure_port=layout.ports.api,
            cert_dir=pki,
            tls_cert_file=pki / "server.crt",
            tls_private_key_file=pki / "server.key",
            client_ca_file=layout.authority,
            token_auth_file=pki / "users.csv",
            authorization_mode="RBAC",
            service_account_issuer="https://kubernetes.default.svc",
            service_account_key_file=pki / "service-accounts.crt",
            service_account_signing_key_file=pki / "service-accounts.key",
            service_cluster_ip_range=SERVICE_NETWORK,
            endpoint_reconciler_type="none",
            allow_privileged=True,
            profiling=False,
            audit_policy_file=_write_audit_policy(layout),
            audit_log_path=layout.audit_log,
            audit_log_mode="blocking",
            audit_log_maxsize=AUDIT_MEGABYTES,
            v=1,
        ),
        ready=f"{layout.api_url}/readyz",
    )


def controller_manager(layout: Layout) -> Component:
    """Kubernetes' own controllers, the Job controller above all."""
    pki = layout.root / "pki"
    return Component(
        name="kube-controller-manager",
        binary=layout.bin_dir / "kube-controller-manager",
        arguments=flags(
            **_serving(layout, layout.ports.controller_manager),
            service_account_private_key_file=pki / "service-accounts.key",
            root_ca_file=layout.authority,
            cluster_signing_cert_file=layout.authority,
            cluster_signing_key_file=pki / "ca.key",
            use_service_account_credentials=True,
            controllers=",".join(("*", *(f"-{name}" for name in DISABLED_CONTROLLERS))),
            kube_api_qps=200,
            kube_api_burst=400,
        ),
        # It has no /readyz (cmd/kube-controller-manager/app, v1.36).
        ready=f"https://{HOST}:{layout.ports.controller_manager}/healthz",
    )


def scheduler(layout: Layout) -> Component:
    """The scheduler."""
    return Component(
        name="kube-scheduler",
        binary=layout.bin_dir / "kube-scheduler",
        arguments=flags(
            **_serving(layout, layout.ports.scheduler), kube_api_qps=500, kube_api_burst=1000
        ),
        ready=f"https://{HOST}:{layout.ports.scheduler}/readyz",
    )


def audit_policy() -> dict[str, Any]:
    """Who wrote what on the four kinds that admission is about, their status too."""
    return {
        "apiVersion": "audit.k8s.io/v1",
        "kind": "Policy",
        "omitStages": ["RequestReceived"],
        "rules": [
            {
                "level": "Metadata",
                "verbs": list(WRITES),
                "resources": [
                    {"group": group, "resources": [plural, f"{plural}/status"]}
                    for group, plural in AUDITED.items()
                ],
            },
            {"level": "None"},
        ],
    }


def _write_audit_policy(layout: Layout) -> str:
    path = layout.root / "audit-policy.yaml"
    path.write_text(yaml.safe_dump(audit_policy()))
    return str(path)


def _serving(layout: Layout, port: int) -> dict[str, Any]:
    return {
        "kubeconfig": layout.kubeconfig(ADMIN),
        "leader_elect": False,
        "bind_address": HOST,
        "secure_port": port,
        "tls_cert_file": layout.root / "pki" / "server.crt",
        "tls_private_key_file": layout.root / "pki" / "server.key",
    }
