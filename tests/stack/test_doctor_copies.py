"""`kueue-steps doctor` before installations that are broken, one thing each."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.stack.copies import MUTATING, VALIDATING, Copy, copied
from tests.stack.diagnosis import Diagnosis, configuration, examine
from tests.stack.objects import Object, named
from tests.stack.team import Team, eventually
from webhook.pki.mint import mint_authority

ERROR, WARNING, INFO = "error", "warning", "info"
NAME = "kubernetes.io/metadata.name"
LABELS = {"app": "kueue-steps"}

Break = Callable[[Copy], Any]
Words = tuple[str, str]
"""A severity, and words of the message."""


@pytest.fixture
def team(team: Team) -> Team:
    """Its ClusterQueue is active: doctor tells of one of which Kueue has said nothing yet."""
    team.await_condition("clusterqueue", team.namespace, "Active")
    return team


@pytest.fixture
def copy(team: Team, tmp_path: Path) -> Iterator[Copy]:
    """An installation of the test's own, in good order."""
    with copied(team, tmp_path) as made:
        yield made


def _wipe(copy: Copy) -> None:
    del copy.entry()["clientConfig"]["caBundle"]


def _distrust(copy: Copy) -> None:
    copy.trust(mint_authority("stranger", now=datetime.now(UTC)))


def _expire(copy: Copy) -> None:
    then = datetime.now(UTC) - timedelta(days=3)
    authority = mint_authority("past", now=then)
    copy.trust(authority)
    copy.serve(copy.leaf(authority, now=then, lifetime=timedelta(days=2)))


def _spoil(copy: Copy) -> None:
    copy.one("Secret")["data"]["tls.crt"] = ""


def _change(copy: Copy) -> None:
    copy.entry()["failurePolicy"] = "Ignore"
    del copy.one(MUTATING)["webhooks"][3]


def _cover_the_system(copy: Copy) -> None:
    spaces = ["kube-system", copy.team.namespace]
    selector = {"matchExpressions": [{"key": NAME, "operator": "In", "values": spaces}]}
    copy.entry()["namespaceSelector"] = selector


def _take_rights(copy: Copy) -> None:
    copy.drop("Role", "RoleBinding")


def _serve_nowhere(copy: Copy) -> None:
    copy.one("Service")["spec"] = {"ports": [{"port": 443}], "selector": {"nobody": "here"}}


BROKEN: dict[str, tuple[Break, dict[str, Words]]] = {
    "the mutating registration is gone": (
        lambda copy: copy.drop(MUTATING),
        {"RegistrationPresent": (ERROR, "does not exist")},
    ),
    "the validating registration is gone": (
        lambda copy: copy.drop(VALIDATING),
        {"RegistrationPresent": (ERROR, "does not exist")},
    ),
    "C22: a caBundle was wiped": (
        _wipe,
        {"RegistrationTrust": (ERROR, "trainjobs.kueue-steps.io has no caBundle")},
    ),
    "C22: caBundle holds another authority": (
        _distrust,
        {"RegistrationTrust": (ERROR, "does not verify the certificate")},
    ),
    "C22: the certificate has expired": (
        _expire,
        {
            "Certificate": (ERROR, "expired on"),
            "RegistrationTrust": (ERROR, "does not verify the certificate"),
        },
    ),
    "the Secret is empty": (_spoil, {"Certificate": (ERROR, "holds no certificate")}),
    "a webhook fails open, another is gone": (
        _change,
        {"RegistrationComplete": (ERROR, "jobs.kueue-steps.io is missing")},
    ),
    "a webhook leads elsewhere": (
        lambda copy: copy.entry()["clientConfig"]["service"].update(name="elsewhere"),
        {"RegistrationComplete": (ERROR, "leads to kueue-steps-system/elsewhere/mutate")},
    ),
    "C21: kube-system depends on us": (
        _cover_the_system,
        {"RegistrationScope": (ERROR, "covers kube-system")},
    ),
    "the rights to the Secret are gone": (
        _take_rights,
        {"ServerRights": (ERROR, "may not update secrets")},
    ),
    "the Service is gone": (
        lambda copy: copy.drop("Service"),
        {"ServiceEndpoints": (ERROR, "does not exist")},
    ),
    "C21: no Pod is behind the Service": (
        _serve_nowhere,
        {"ServiceEndpoints": (ERROR, "leads to no ready Pod")},
    ),
}


def test_a_copy_in_good_order_is_fine(copy: Copy) -> None:
    """Nothing but what is told of any installation that serves chosen namespaces."""
    found = copy.examine()
    assert found.problems == []
    assert found.code == 0
    assert found.severities("Certificate") == found.severities("RegistrationTrust") == {"ok"}
    assert found.says("RegistrationScope", INFO, "chooses by label")


@pytest.mark.parametrize(("harm", "expected"), BROKEN.values(), ids=BROKEN.keys())
def test_one_thing_broken_is_found(copy: Copy, harm: Break, expected: dict[str, Words]) -> None:
    """Exactly the checks that are named say so, and the exit code is 1."""
    harm(copy)
    found = copy.examine()
    assert found.code == 1
    assert set(found.problems) == set(expected)
    for check, words in expected.items():
        assert found.says(check, *words)


def test_a_registration_that_sorts_after_kueues_is_found(team: Team, tmp_path: Path) -> None:
    """Kueue's would be called first, and take parents whole."""
    with copied(team, tmp_path, "z-{}") as copy:
        found = copy.examine()
    assert found.problems == ["RegistrationOrder"]
    assert found.says("RegistrationOrder", ERROR, "sorts after Kueue's kueue-mutating-webhook")


def test_without_its_secret_only_the_date_can_not_be_told(copy: Copy) -> None:
    """A server that is not deployed here may have its certificate from elsewhere."""
    copy.drop("Secret")
    found = copy.examine()
    assert found.code == 0
    assert found.says("Certificate", INFO, "Can't tell when the served certificate ends")


def test_replicas_are_looked_at(team: Team, tmp_path: Path) -> None:
    """None of one ready and no PodDisruptionBudget, then two that are ready and covered."""
    path = configuration(tmp_path, certificates={"namespace": team.namespace})

    def look() -> Diagnosis:
        return examine(team.cluster, "-n", team.namespace, "--config", path)

    team.cluster.apply([_deployment(team, replicas=1, paused=True)])
    found = look()
    assert found.says("ServerReplicas", ERROR, "0 of 1 replicas are ready")
    assert found.says("ServerReplicas", WARNING, "its one replica")
    assert found.says("DisruptionBudget", WARNING, "a drain may take all")
    assert found.says("Certificate", ERROR, "no certificate to serve")
    team.cluster.apply([_deployment(team, replicas=2, paused=False), _budget(team)])
    eventually(lambda: look().severities("ServerReplicas") == {"ok"}, "both are ready")
    assert look().severities("DisruptionBudget") == {"ok"}


def _deployment(team: Team, *, replicas: int, paused: bool) -> Object:
    pod = {"containers": [{"name": "webhook", "image": "registry.example/kueue-steps"}]}
    return named("Deployment", "apps/v1", "kueue-steps", team.namespace) | {
        "spec": {
            "replicas": replicas,
            "paused": paused,
            "selector": {"matchLabels": LABELS},
            "template": {"metadata": {"labels": LABELS}, "spec": pod},
        }
    }


def _budget(team: Team) -> Object:
    spec = {"maxUnavailable": 1, "selector": {"matchLabels": LABELS}}
    return named("PodDisruptionBudget", "policy/v1", "kueue-steps", team.namespace) | {"spec": spec}
