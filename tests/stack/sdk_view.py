"""What the Kubeflow SDK makes of the TrainJobs of a namespace; a program for the SDK's own Python.

Prints JSON: `status` and `steps` of each as its client sees them, the reasons of our Events on it,
and each as its models write it after they have read it.
"""

import json
import sys
from typing import Any

from kubeflow.common.types import KubernetesBackendConfig
from kubeflow.trainer import TrainerClient
from kubeflow_trainer_api.models import TrainerV1alpha1TrainJobList


def main(namespace: str) -> None:
    """List them, get each, and write what was read."""
    client = TrainerClient(KubernetesBackendConfig(namespace=namespace))
    listed = client.list_jobs()
    seen = {job.name: _seen(job) for job in listed}
    got = {job.name: _seen(client.get_job(job.name)) for job in listed}
    stored = client.backend.custom_api.list_namespaced_custom_object(
        "trainer.kubeflow.org", "v1alpha1", namespace, "trainjobs"
    )
    written = TrainerV1alpha1TrainJobList.from_dict(stored).to_dict()["items"]
    told = {job.name: _told(client.get_job_events(job.name)) for job in listed}
    report = {
        "listed": seen,
        "got": got,
        "told": told,
        "read": stored["items"],
        "written": written,
    }
    sys.stdout.write(json.dumps(report, default=_time))


def _seen(job: Any) -> dict[str, Any]:
    return {"status": job.status, "steps": {step.name: step.status for step in job.steps}}


def _told(events: list[Any]) -> list[str]:
    return [event.reason for event in events if event.involved_object_kind == "TrainJob"]


def _time(value: Any) -> str:
    return str(value.isoformat().replace("+00:00", "Z"))


if __name__ == "__main__":
    main(sys.argv[1])
