"""The hold in the API server, beside the one that all share, for namespaces that carry a label.

What the component changes for the whole cluster is changed for them only: the policies' bindings
select them, and the webhook entries for Jobs leave them out instead of matching nothing.
"""

import json
import secrets
from functools import partial
from pathlib import Path
from typing import Final

import yaml

from localcluster import webhook
from localcluster.cluster import Cluster
from localcluster.errors import KubectlError
from tests.stack.objects import STEP_QUEUE, Object, controlled_by, job, jobset, named, step
from tests.stack.team import Team, eventually, is_suspended, would_store

LABEL: Final = "localcluster.kueue-steps.io/held"
COMPONENT: Final = Path(__file__).resolve().parents[2] / "manifests" / "components"
POLICIES: Final = ("updated_jobs.yaml", "created_jobs.yaml")
"""In this order: where a created Job is held, an updated one is."""

ENTRIES: Final = ("created-jobs.kueue-steps.io", "jobs.kueue-steps.io")
ELSEWHERE: Final = {"key": LABEL, "operator": "DoesNotExist"}
PROBES: Final = "in-process-probes"
PLACE: Final = named("Namespace", "v1", PROBES, None, labels={LABEL: "in-process"})
OWNER: Final = jobset("probe", PROBES, {}, step("a"), managedBy="example.com/nobody")


def policies() -> list[Object]:
    """The component's policies and bindings, as they are."""
    folder = COMPONENT / "in-process-hold"
    return [item for name in POLICIES for item in yaml.safe_load_all((folder / name).read_text())]


def install(cluster: Cluster) -> None:
    """Let the API server hold the Jobs of labelled namespaces; nothing changes if it does."""
    bound = policies()
    for item in bound:
        if item["kind"] == "MutatingAdmissionPolicyBinding":
            selector = {"matchExpressions": [{"key": LABEL, "operator": "Exists"}]}
            item["spec"]["matchResources"] = {"namespaceSelector": selector}
    cluster.apply(bound)
    _leave_out(cluster)
    cluster.apply([PLACE])
    cluster.apply([OWNER])
    owner = cluster.get("jobset", "probe", namespace=PROBES)
    eventually(partial(is_held, cluster, owner), "the policies hold")


def hold(team: Team) -> Team:
    """The team, in whose namespace the API server holds from now on."""
    team.cluster.kubectl("label", "namespace", team.namespace, f"{LABEL}=in-process")
    return team


def _leave_out(cluster: Cluster) -> None:
    stored = cluster.get("mutatingwebhookconfiguration", webhook.REGISTRATION)
    patch = [
        {
            "op": "add",
            "path": f"/webhooks/{number}/namespaceSelector/matchExpressions/-",
            "value": ELSEWHERE,
        }
        for number, entry in enumerate(stored["webhooks"])
        if entry["name"] in ENTRIES
        and ELSEWHERE not in entry["namespaceSelector"]["matchExpressions"]
    ]
    if patch:
        cluster.kubectl(
            *("patch", "mutatingwebhookconfiguration", webhook.REGISTRATION),
            *("--type=json", "-p", json.dumps(patch)),
        )


def is_held(cluster: Cluster, owner: Object) -> bool:
    """Is a new Job of this JobSet suspended without a call of ours?"""
    name, place = f"probe-{secrets.token_hex(3)}", owner["metadata"]["namespace"]
    probe = job(name, place, {STEP_QUEUE: "probe"}, ownerReferences=[controlled_by(owner)])
    try:
        stored = would_store(cluster, probe)
    except KubectlError:  # Kueue's webhook has not heard of the JobSet yet.
        return False
    log = cluster.state_dir / "logs" / "webhook.log"
    return is_suspended(stored) and name not in log.read_text()
