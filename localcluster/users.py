"""What a plain user may do: the rights of somebody who submits training jobs, not an admin's."""

from localcluster.manifests import Object

ROLE = "localcluster-user"
OWN = ["create", "get", "list", "watch", "update", "patch", "delete"]
READ = ["get", "list", "watch"]


def role() -> Object:
    """The ClusterRole, of use only where a RoleBinding grants it."""
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": ROLE},
        "rules": [
            _rule("trainer.kubeflow.org", ["trainjobs"], OWN),
            _rule("jobset.x-k8s.io", ["jobsets"], OWN),
            _rule("batch", ["jobs"], OWN),
            _rule("", ["pods", "pods/log", "events"], READ),
            _rule("kueue.x-k8s.io", ["workloads", "localqueues"], READ),
        ],
    }


def grant(namespace: str, user: str) -> Object:
    """The RoleBinding that lets the user work in the namespace."""
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"namespace": namespace, "name": f"{ROLE}-{user}"},
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "ClusterRole",
            "name": ROLE,
        },
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}],
    }


def _rule(group: str, resources: list[str], verbs: list[str]) -> Object:
    return {"apiGroups": [group], "resources": resources, "verbs": verbs}
