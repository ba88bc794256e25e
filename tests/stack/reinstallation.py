"""The shared installation, served with other settings, deleted, and put back."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace

from localcluster import webhook
from localcluster.cluster import Cluster
from localcluster.errors import ComponentState, KubectlError
from localcluster.kubectl import Kubectl
from localcluster.layout import load_layout, unused
from localcluster.manifests import WEBHOOK_KINDS, bundle
from tests.stack.objects import QUEUE, STEP_QUEUE, Object, jobset, step
from tests.stack.team import eventually, would_store
from webhook.rules.names import NAMESPACE_NAME


def serve(cluster: Cluster, **settings: str) -> None:
    """Roll out: the server with these settings takes the place of the one that runs."""
    layout = load_layout(cluster.state_dir)
    text = webhook.configuration(Kubectl(layout).render(webhook.BASE))
    installation = replace(webhook.SHARED, settings=settings)
    operations = unused(1)[0]
    cluster.kill(webhook.NAME)
    cluster.spawn(
        webhook.component(layout, text, port(cluster), operations, installation=installation)
    )


def port(cluster: Cluster) -> int:
    """Where API servers call us."""
    stored = cluster.get("mutatingwebhookconfiguration", webhook.REGISTRATION)
    found: int = stored["webhooks"][0]["clientConfig"]["service"]["port"]
    return found


def installed(cluster: Cluster) -> list[Object]:
    """The manifests, in their order, as they were applied here."""
    return webhook.manifests(load_layout(cluster.state_dir), port(cluster))


@contextmanager
def deletion(cluster: Cluster) -> Iterator[subprocess.Popen[str]]:
    """`kubectl delete -f` of the manifests, while the block runs."""
    content = {"apiVersion": "v1", "kind": "List", "items": installed(cluster)}
    command = [
        str(cluster.bin_dir / "kubectl"),
        f"--kubeconfig={cluster.kubeconfig()}",
        *("delete", "--ignore-not-found", "-f", "-"),
    ]
    with subprocess.Popen(command, stdin=subprocess.PIPE, text=True) as process:
        if process.stdin:
            process.stdin.write(json.dumps(content))
            process.stdin.close()
        yield process


def put_back(cluster: Cluster) -> None:
    """Installed by the manifests, and served with their configuration, whatever there was."""
    with suppress(ComponentState):
        cluster.kill(webhook.NAME)
    webhook.install(cluster)


@contextmanager
def left_out(cluster: Cluster, namespace: str) -> Iterator[None]:
    """No registration of ours covers the namespace within the block.

    That the API server knows is seen of the mutating one.
    """
    try:
        _leave_out(cluster, namespace)
        eventually(lambda: not _is_covered(cluster, namespace), "we are not asked")
        yield
    finally:
        replay(cluster)
        eventually(lambda: _is_covered_again(cluster, namespace), "we are asked again")


def _leave_out(cluster: Cluster, namespace: str) -> None:
    elsewhere = {"key": NAMESPACE_NAME, "operator": "NotIn", "values": [namespace]}
    for kind in WEBHOOK_KINDS:
        entries = cluster.get(kind, webhook.REGISTRATION)["webhooks"]
        patch = [
            {
                "op": "add",
                "path": f"/webhooks/{number}/namespaceSelector/matchExpressions/-",
                "value": elsewhere,
            }
            for number in range(len(entries))
        ]
        cluster.kubectl("patch", kind, webhook.REGISTRATION, "--type=json", "-p", json.dumps(patch))


def _is_covered(cluster: Cluster, namespace: str) -> bool:
    """Does the API server ask us about a new JobSet there? It follows registrations late."""
    probe = jobset("probe", namespace, {QUEUE: "gpu"}, step("a"), step("b", "a"))
    return STEP_QUEUE in would_store(cluster, probe)["metadata"]["labels"]


def _is_covered_again(cluster: Cluster, namespace: str) -> bool:
    try:
        return _is_covered(cluster, namespace)
    except KubectlError:
        return False


def replay(cluster: Cluster) -> None:
    """Apply the manifests again."""
    objects = bundle(installed(cluster))
    cluster.apply([*objects.definitions, *objects.objects, *objects.webhooks])
