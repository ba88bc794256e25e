"""`kueue-steps steps` as a user who has the documented rights, and as one who lacks them."""

from collections.abc import Callable, Iterator
from typing import Final

import pytest

from tests.stack.objects import jobset, named, step
from tests.stack.steps_command import Shown, cleared, run
from tests.stack.steps_viewers import RBAC, documented, own, user_with
from tests.stack.team import Team, eventually

NEEDED: Final = {
    "trainjobs": "trainjobs.trainer.kubeflow.org",
    "jobsets": "jobsets.jobset.x-k8s.io",
    "jobs": "jobs.batch",
    "workloads": "workloads.kueue.x-k8s.io",
}


@pytest.fixture
def new_team(new_team: Callable[..., Team]) -> Iterator[Callable[..., Team]]:
    """Teams whose work is gone afterwards: some of it would hold GPUs for long."""
    with cleared(new_team) as create:
        yield create


@pytest.fixture
def crew(team: Team) -> Team:
    """A team with a JobSet."""
    team.submit(jobset("tune", team.namespace, team.label, step("a", gpus=9), step("b", "a")))
    return team


def test_the_documented_rights_suffice(crew: Team) -> None:
    """In a namespace; the whole tree is shown."""
    user = user_with(crew, own(crew, documented()))

    def allowed() -> Shown | None:
        found = run(crew.cluster, "-n", crew.namespace, user=user)
        return None if found.code else found

    shown = eventually(allowed, "the rights count")
    assert shown.err == ""
    assert f"JobSet {crew.namespace}/tune" in shown.out
    assert "may not" not in shown.out


def test_the_documented_rights_suffice_everywhere(crew: Team) -> None:
    """Bound in the cluster, for -A; in one namespace they do not."""
    role = own(crew, documented())
    user = user_with(crew, role)
    refused = run(crew.cluster, "-A", user=user)
    assert (refused.code, refused.out) == (1, "")
    assert "You may not list trainjobs.trainer.kubeflow.org in all namespaces." in refused.err
    user_with(crew, role, "ClusterRoleBinding")
    eventually(
        lambda: f"JobSet {crew.namespace}/tune" in run(crew.cluster, "-A", user=user).out,
        "the rights count",
    )


def test_the_role_view_suffices_as_kueue_is_installed(crew: Team) -> None:
    """Kueue's own viewer roles are part of it, so the documented role is for those without."""
    nothing = named("ClusterRole", RBAC, f"unused-{crew.namespace}", None) | {"rules": []}
    user = user_with(crew, nothing)
    assert run(crew.cluster, "-n", crew.namespace, user=user).code == 1
    subject = {"kind": "ServiceAccount", "name": user, "namespace": crew.namespace}
    view = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}
    binding = named("RoleBinding", RBAC, "view", crew.namespace)
    crew.cluster.apply([binding | {"roleRef": view, "subjects": [subject]}])
    eventually(
        lambda: run(crew.cluster, "-n", crew.namespace, user=user).code == 0, "the rights count"
    )


@pytest.mark.parametrize("kind", NEEDED)
def test_a_right_that_is_missing_is_named(crew: Team, kind: str) -> None:
    """Verb, kind, namespace, and where the rights are written down; exit code 1."""
    role = own(crew, documented())
    role["rules"] = [rule for rule in role["rules"] if rule["resources"] != [kind]]
    user = user_with(crew, role)

    def refused() -> str | None:
        shown = run(crew.cluster, "-n", crew.namespace, user=user)
        assert (shown.code, shown.out) == (1, "")
        return shown.err if NEEDED[kind] in shown.err else None

    message = eventually(refused, "only this right is missing")
    assert message.startswith(f"You may not list {NEEDED[kind]} in namespace {crew.namespace}.")
    assert "docs/how-to/steps.md" in message


def test_a_name_that_there_is_not_is_told_with_what_there_is(crew: Team) -> None:
    """Exit code 1."""
    shown = run(crew.cluster, "other", "-n", crew.namespace)
    assert (shown.code, shown.out) == (1, "")
    assert shown.err == (
        f"There is no TrainJob and no JobSet named other in namespace {crew.namespace}. "
        "There are jobset/tune.\n"
    )
