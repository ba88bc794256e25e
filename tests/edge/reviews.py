"""Reviews as an API server sends them."""

from typing import Any

QUEUE = "kueue.x-k8s.io/queue-name"


def review(obj: dict[str, Any] | None, **overrides: Any) -> dict[str, Any]:
    """An AdmissionReview that creates a JobSet."""
    request = {
        "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
        "kind": {"group": "jobset.x-k8s.io", "version": "v1alpha2", "kind": "JobSet"},
        "resource": {"group": "jobset.x-k8s.io", "version": "v1alpha2", "resource": "jobsets"},
        "name": "pipeline",
        "namespace": "team-a",
        "operation": "CREATE",
        "userInfo": {"username": "alice", "groups": ["users"]},
        "object": obj,
        "oldObject": None,
        "dryRun": False,
        "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"},
    }
    return {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": request | overrides,
    }


def jobset(**labels: str) -> dict[str, Any]:
    """A two-step pipeline with these labels, `queue` for Kueue's queue-name."""
    named = {QUEUE if key == "queue" else key: value for key, value in labels.items()}
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "pipeline", "namespace": "team-a", "labels": named},
        "spec": {
            "replicatedJobs": [
                {"name": "prepare", "template": {"spec": {"template": {"spec": {}}}}},
                {
                    "name": "train",
                    "dependsOn": [{"name": "prepare", "status": "Complete"}],
                    "template": {"spec": {"template": {"spec": {}}}},
                },
            ]
        },
    }
