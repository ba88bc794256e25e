"""Users with the rights that the documentation of `kueue-steps steps` asks for, or some of them."""

from pathlib import Path
from typing import Final

import yaml

from tests.stack.objects import Object, named
from tests.stack.team import Team

RBAC: Final = "rbac.authorization.k8s.io/v1"
DOCUMENTATION: Final = Path(__file__).parents[2] / "docs" / "how-to" / "steps.md"


def documented() -> Object:
    """The ClusterRole that the documentation tells administrators to apply."""
    text = DOCUMENTATION.read_text().partition("```yaml\n")[2].partition("```")[0]
    role: Object = yaml.safe_load(text)
    return role


def user_with(team: Team, role: Object, kind: str = "RoleBinding") -> str:
    """A user with this role, in the team's namespace or everywhere."""
    name = f"viewer-{team.namespace}"
    account = named("ServiceAccount", "v1", name, team.namespace)
    place = team.namespace if kind == "RoleBinding" else None
    binding = named(kind, RBAC, name, place) | {
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "ClusterRole",
            "name": role["metadata"]["name"],
        },
        "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": team.namespace}],
    }
    team.cluster.apply([account, role, binding])
    team.cluster.write_kubeconfig(name, team.cluster.token(team.namespace, name))
    return name


def own(team: Team, role: Object) -> Object:
    """The documented role under a name of the team's: tests run side by side."""
    labels: dict[str, str] = {}
    return role | {"metadata": {"name": f"steps-{team.namespace}", "labels": labels}}
