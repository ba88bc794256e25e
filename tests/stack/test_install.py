"""Every way of installing, judged by the real API server, strictly, without storing anything."""

import json
import subprocess
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import yaml

from localcluster.cluster import Cluster
from localcluster.errors import KubectlError
from localcluster.tools import definition_folders
from tests.manifests import renderings
from tests.manifests.renderings import COMPONENTS, NAMESPACE
from tests.stack.team import eventually, ran, would_store

pytestmark = pytest.mark.alone

ACCOUNT = f"system:serviceaccount:{NAMESPACE}:kueue-steps"
USED = ("certificates", "issuers", "servicemonitors", "prometheusrules")
REGISTRATIONS = ("mutatingwebhookconfiguration", "validatingwebhookconfiguration")
ALL_VALUES = tuple(chain.from_iterable(COMPONENTS.values()))


@pytest.fixture
def definitions(cluster: Cluster) -> None:
    """The kinds of cert-manager and the Prometheus operator that our components use.

    They stay, and are applied again: the deletion of a definition that has just been made takes
    five minutes where the API server's storage for it is not ready ("could not list instances").
    """
    files = [
        path
        for folder in definition_folders()
        for path in folder.glob("*.yaml")
        if path.stem.rpartition("_")[2] in USED
    ]
    found = list(chain.from_iterable(yaml.safe_load_all(path.read_text()) for path in files))
    assert len(found) == len(USED)
    cluster.apply(found)
    names = [f"crd/{item['metadata']['name']}" for item in found]
    cluster.kubectl("wait", "--for=condition=Established", "--timeout=60s", *names)
    kinds = ",".join(item["metadata"]["name"] for item in found)
    eventually(lambda: ran(cluster, "get", kinds, "-A").returncode == 0, "the kinds are served")


def _judged(cluster: Cluster, text: str) -> list[dict[str, Any]]:
    """What the API server would store; fails for unknown fields, refusals and warnings."""
    command = [
        str(cluster.bin_dir / "kubectl"),
        f"--kubeconfig={cluster.kubeconfig()}",
        *("apply", "--server-side", "--dry-run=server", "--validate=strict", "--force-conflicts"),
        *("--field-manager=test-install", "-o", "json", "-f", "-"),
    ]
    result = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")
    items: list[dict[str, Any]] = json.loads(result.stdout)["items"]
    return items


@pytest.mark.parametrize(
    "names", [(), *((name,) for name in COMPONENTS), tuple(COMPONENTS)], ids="+".join
)
def test_kustomizations_are_accepted(
    cluster: Cluster, definitions: None, names: tuple[str, ...], tmp_path: Path
) -> None:
    """The base, with each component and with all of them."""
    text = renderings.kustomized(tmp_path, *names)
    assert len(_judged(cluster, text)) == len(renderings.objects(text))


def test_install_yaml_is_accepted(cluster: Cluster) -> None:
    """The one file."""
    assert _judged(cluster, renderings.installed())


@pytest.mark.parametrize("values", [(), ALL_VALUES], ids=["defaults", "everything"])
def test_the_chart_is_accepted_in_a_namespace_of_its_own(
    cluster: Cluster, definitions: None, values: tuple[str, ...]
) -> None:
    """With its defaults and with everything that it can switch on."""
    namespace = "helm-release"
    metadata = {"name": namespace}
    cluster.apply([{"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}])
    try:
        assert _judged(cluster, renderings.templated(*values, namespace=namespace))
    finally:
        cluster.kubectl("delete", "namespace", namespace)


def test_an_upgrade_keeps_the_authority_that_api_servers_trust(cluster: Cluster) -> None:
    """Applied again, the registrations keep caBundle, which the manifests do not hold."""
    again = _judged(cluster, renderings.installed())
    for kind in REGISTRATIONS:
        stored = cluster.get(kind, "a-kueue-steps")
        (item,) = [item for item in again if item["kind"].lower() == kind]
        trusted = [webhook["clientConfig"].get("caBundle") for webhook in stored["webhooks"]]
        assert all(trusted)
        assert [webhook["clientConfig"]["caBundle"] for webhook in item["webhooks"]] == trusted


def test_the_pod_is_admitted_to_its_namespace(cluster: Cluster) -> None:
    """Under the enforced standard, with its priority class and the quota for that."""
    deployment = renderings.one(renderings.objects(renderings.installed()), "Deployment")
    template = deployment["spec"]["template"]
    metadata = {"name": "test-install", "namespace": NAMESPACE}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}
    assert would_store(cluster, pod)["spec"]["priorityClassName"] == "system-cluster-critical"


def test_a_pod_that_breaks_the_standard_is_not(cluster: Cluster) -> None:
    """The namespace enforces it."""
    container = {"name": "any", "image": "any"}
    metadata = {"name": "test-install", "namespace": NAMESPACE}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": [container]},
    }
    with pytest.raises(KubectlError, match="violates PodSecurity"):
        would_store(cluster, pod)


RIGHTS = {
    "Kueue's configuration": ("get", "configmaps/kueue-manager-config", "kueue-system", True),
    "another ConfigMap of Kueue's": ("get", "configmaps/other", "kueue-system", False),
    "a ConfigMap of that name elsewhere": ("get", "configmaps/kueue-manager-config", "team", False),
    "our Secret": ("update", "secrets/kueue-steps-tls", NAMESPACE, True),
    "another Secret of ours": ("get", "secrets/other", NAMESPACE, False),
    "a Secret of that name elsewhere": ("get", "secrets/kueue-steps-tls", "team", False),
    "deleting our Secret": ("delete", "secrets/kueue-steps-tls", NAMESPACE, False),
    "our registration": ("patch", "mutatingwebhookconfigurations/a-kueue-steps", "", True),
    "Kueue's registration": (
        "patch",
        "mutatingwebhookconfigurations/kueue-mutating-webhook-configuration",
        "",
        False,
    ),
    "writing Jobs": ("patch", "jobs/any", "team", False),
}


@pytest.mark.parametrize(("verb", "what", "where", "allowed"), RIGHTS.values(), ids=RIGHTS.keys())
def test_the_account_has_its_rights_and_no_others(
    cluster: Cluster,
    verb: str,
    what: str,
    where: str,
    allowed: bool,  # noqa: FBT001
) -> None:
    """As the API server's own authorizer decides it."""
    place = ("-n", where) if where else ()
    asked = ("auth", "can-i", verb, what, *place, f"--as={ACCOUNT}", "-q")
    if allowed:
        cluster.kubectl(*asked)
    else:
        with pytest.raises(KubectlError):
            cluster.kubectl(*asked)
