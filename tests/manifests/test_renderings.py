"""Every way of installing gives the same objects, and the chart refuses what can't work."""

import subprocess
from itertools import combinations
from pathlib import Path

import pytest
import yaml

from localcluster.tools import tools
from manifests import generate
from tests.manifests import renderings
from tests.manifests.renderings import COMPONENTS, MANIFESTS, one
from webhook.sections import CertificatesSection

pytestmark = pytest.mark.tools

SELECTIONS = [
    names for count in range(len(COMPONENTS) + 1) for names in combinations(COMPONENTS, count)
]


def test_generated_files_are_up_to_date() -> None:
    """`make manifests` would change nothing."""
    assert generate.stale() == []


def test_install_yaml_is_the_base(tmp_path: Path) -> None:
    """The one file holds the same objects as the kustomization."""
    assert renderings.objects(renderings.installed()) == renderings.objects(
        renderings.kustomized(tmp_path)
    )


@pytest.mark.parametrize("names", SELECTIONS, ids="+".join)
def test_chart_and_kustomization_give_the_same_objects(
    names: tuple[str, ...], tmp_path: Path
) -> None:
    """With any components and the values that say the same; helm makes the namespace itself."""
    values = [value for name in names for value in COMPONENTS[name]]
    chart = renderings.objects(renderings.templated(*values))
    kustomization = renderings.objects(renderings.kustomized(tmp_path, *names))
    assert chart == renderings.without_namespace(kustomization)


def test_helm_finds_no_fault() -> None:
    """`helm lint --strict` passes."""
    command = [str(tools() / "helm"), "lint", "--strict", str(MANIFESTS / "chart")]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        ("replica=3", "additional properties 'replica' not allowed"),
        ("replicas=none", "/replicas"),
        ("certificates.source=vault", "'selfManaged', 'certManager'"),
        ("configuration.mode.default=never", "'auto', 'step', 'whole'"),
        ("configuration.log.lvel=info", "additional properties 'lvel' not allowed"),
        ("configuration.server.port=1", "additional properties 'port' not allowed"),
        ("configuration.kind=Other", "additional properties 'kind' not allowed"),
        ("excludedNamespaces={Team_A}", "/excludedNamespaces/0"),
        ("configuration.kueue.namespace=queues", "Kueue's starts would be held for ever"),
    ],
)
def test_values_that_cannot_work_are_refused(value: str, complaint: str) -> None:
    """The refusal names the key, or what would go wrong."""
    assert complaint in renderings.refusal(value)


ELSEWHERE = (
    "configuration.kueue.namespace=queues",
    "configuration.controllers.kueue={system:serviceaccount:queues:kueue,admin}",
)


def test_kueue_elsewhere_changes_role_selectors_and_conditions() -> None:
    """Two values lead everywhere where Kueue's namespace or user is named."""
    text = renderings.templated(*ELSEWHERE)
    assert "kueue-system" not in text
    found = renderings.objects(text)
    assert ("Role", "queues", "kueue-steps") in found
    assert ("RoleBinding", "queues", "kueue-steps") in found
    conditions = [
        condition["expression"]
        for kind in ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
        for webhook in one(found, kind, "a-kueue-steps")["webhooks"]
        for condition in webhook.get("matchConditions", [])
    ]
    both = (
        "request.userInfo.username != 'system:serviceaccount:queues:kueue'"
        " && request.userInfo.username != 'admin' ||"
    )
    assert [both in text for text in conditions if "username" in text] == [True, True]


def test_another_namespace_leads_everywhere() -> None:
    """Nothing names the default namespace when the release is in another."""
    values = [value for name in COMPONENTS for value in COMPONENTS[name]]
    text = renderings.templated(*values, namespace="elsewhere")
    rules = one(renderings.objects(text), "PrometheusRule")
    assert text.count(renderings.NAMESPACE) == yaml.safe_dump(rules).count(renderings.NAMESPACE)


def test_selectors_take_what_the_values_add() -> None:
    """Excluded namespaces join ours, and a selector narrows further, in all registrations."""
    values = ("excludedNamespaces={legacy}", "namespaceSelector.matchLabels.queued=yes")
    found = renderings.objects(renderings.templated(*values))
    for kind in ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"):
        for webhook in one(found, kind, "a-kueue-steps")["webhooks"]:
            assert webhook["namespaceSelector"] == {
                "matchLabels": {"queued": "yes"},
                "matchExpressions": [
                    {
                        "key": "kubernetes.io/metadata.name",
                        "operator": "NotIn",
                        "values": ["kube-system", "kueue-system", "kueue-steps-system", "legacy"],
                    }
                ],
            }


def test_an_issuer_of_ones_own_replaces_ours() -> None:
    """With issuerRef there is one Certificate, and no authority of ours."""
    values = (
        "certificates.source=certManager",
        "certificates.issuerRef.kind=ClusterIssuer",
        "certificates.issuerRef.name=internal",
    )
    found = renderings.objects(renderings.templated(*values))
    assert not [key for key in found if key[0] == "Issuer"]
    assert one(found, "Certificate")["spec"]["issuerRef"] == {
        "group": "cert-manager.io",
        "kind": "ClusterIssuer",
        "name": "internal",
    }
    assert len([key for key in found if key[0] == "Certificate"]) == 1


def test_a_changed_configuration_rolls_the_pods() -> None:
    """The checksum in the pod template follows the configuration."""
    before, after = (
        next(yaml.safe_load(line.strip()) for line in text.splitlines() if "checksum/" in line)
        for text in (renderings.templated(), renderings.templated("configuration.log.level=debug"))
    )
    assert before != after


def test_with_cert_manager_the_server_reads_what_it_writes(tmp_path: Path) -> None:
    """Secret, mount, name and source are those of the server's configuration."""
    section = CertificatesSection()
    found = renderings.objects(renderings.kustomized(tmp_path, "cert-manager"))
    pod = one(found, "Deployment")["spec"]["template"]["spec"]
    certificate = one(found, "Certificate")["spec"]
    assert certificate["secretName"] == section.secret
    assert certificate["dnsNames"] == [section.terms.dns_name]
    (volume,) = [item for item in pod["volumes"] if "secret" in item]
    assert volume["secret"]["secretName"] == section.secret
    (container,) = pod["containers"]
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    assert str(section.certificate_file) == f"{mounts[volume['name']]}/tls.crt"
    assert str(section.key_file) == f"{mounts[volume['name']]}/tls.key"
    assert container["env"] == [{"name": "KUEUE_STEPS_CERTIFICATES__SOURCE", "value": "files"}]
    assert not [key for key in found if key[2] == "kueue-steps-certificates"]
    for kind in ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"):
        annotations = one(found, kind, "a-kueue-steps")["metadata"]["annotations"]
        assert annotations == {
            "cert-manager.io/inject-ca-from": f"{section.namespace}/{section.service}"
        }
