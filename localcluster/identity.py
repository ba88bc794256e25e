"""Who is who: the authority, the server certificates, the token users and their kubeconfigs."""

import secrets
from datetime import UTC, datetime
from pathlib import Path

import yaml

from localcluster.layout import HOST, Layout
from webhook.pki.files import write_pair, write_private
from webhook.pki.mint import Pair, mint_authority, mint_leaf

ADMIN = "admin"
GROUPS = {ADMIN: "system:masters", "alice": "users"}
SERVICE_NETWORK = "10.0.0.0/16"
API_SERVER_NAMES = (
    "localhost",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
)
API_SERVER_ADDRESSES = (HOST, "10.0.0.1")


def issue(layout: Layout) -> None:
    """Write the authority, the servers' pair, the service accounts' key and the token users."""
    now = datetime.now(UTC)
    pki = layout.folder("pki")
    authority = mint_authority("localcluster", now=now)
    write_pair(authority, layout.authority, pki / "ca.key")
    server = mint_leaf(
        authority, dns_names=API_SERVER_NAMES, addresses=API_SERVER_ADDRESSES, now=now
    )
    write_pair(server, pki / "server.crt", pki / "server.key")
    # Only the keys of this pair are used; the API server reads the public one from a certificate.
    tokens = mint_authority("service account tokens", now=now)
    write_pair(tokens, pki / "service-accounts.crt", pki / "service-accounts.key")
    _write_users(layout)


def issue_service_pair(layout: Layout, service: str, namespace: str, folder: Path) -> None:
    """Write tls.crt and tls.key for <service>.<namespace>.svc, as a webhook's certDir wants it."""
    authority = Pair(
        certificate=layout.authority.read_bytes(),
        key=(layout.root / "pki" / "ca.key").read_bytes(),
    )
    pair = mint_leaf(authority, dns_names=[f"{service}.{namespace}.svc"], now=datetime.now(UTC))
    write_pair(pair, folder / "tls.crt", folder / "tls.key")


def write_kubeconfig(layout: Layout, name: str, token: str) -> Path:
    """Write a kubeconfig that carries the token, and return its path."""
    path = layout.kubeconfig(name)
    path.parent.mkdir(exist_ok=True)
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "localcluster", "cluster": _cluster(layout)}],
        "users": [{"name": name, "user": {"token": token}}],
        "contexts": [{"name": name, "context": {"cluster": "localcluster", "user": name}}],
        "current-context": name,
    }
    write_private(path, yaml.safe_dump(config).encode())
    return path


def _cluster(layout: Layout) -> dict[str, str]:
    return {"server": layout.api_url, "certificate-authority": str(layout.authority)}


def _write_users(layout: Layout) -> None:
    lines = []
    for user, group in GROUPS.items():
        token = secrets.token_urlsafe()
        lines.append(f'{token},{user},{user},"{group}"\n')
        write_kubeconfig(layout, user, token)
    write_private(layout.root / "pki" / "users.csv", "".join(lines).encode())
