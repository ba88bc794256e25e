"""Which Workloads a pause concerns: what is to be done for a Job, from what is known.

Pure. A Job is paused while it carries our mark (its JobSet stopped it) or its JobSet is suspended
(it was not started yet). The Workload of a paused Job is to be inactive, with an annotation that
says that it was us; only such a Workload is made active again.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from webhook.cluster.known import Known
from webhook.cluster.views import Workload
from webhook.rules import names


class Action(StrEnum):
    """What is to be done with a Workload."""

    DEACTIVATE = "deactivate"
    ACTIVATE = "activate"


def due(known: Known, uid: str) -> tuple[Action, Workload] | None:
    """What is to be done for one Job now."""
    job, workload = known.jobs.get(uid), known.workload_of(uid)
    if job is None or workload is None:
        return None
    jobset = known.jobset_of(job)
    if job.marked or (jobset and jobset.suspended):
        return None if workload.marked else (Action.DEACTIVATE, workload)
    if workload.marked and jobset is not None:
        return Action.ACTIVATE, workload
    return None


def still_applies(action: Action, stored: Mapping[str, Any]) -> bool:
    """Whether a Workload as it is now still wants what was due when it was seen.

    What a person made inactive, that person alone makes active again.
    """
    is_ours = names.PAUSED in (stored["metadata"].get("annotations") or {})
    if action is Action.ACTIVATE:
        return is_ours
    return not is_ours and stored["spec"].get("active", True) and not _is_finished(stored)


def _is_finished(workload: Mapping[str, Any]) -> bool:
    conditions = (workload.get("status") or {}).get("conditions") or []
    return any(c["type"] == "Finished" and c["status"] == "True" for c in conditions)
