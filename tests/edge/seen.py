"""What the companion knows once it has seen a step, and what is due for that step then."""

from tests.edge.objects_seen import see_all
from webhook.cluster.items import Item
from webhook.cluster.known import Known
from webhook.cluster.pauses import Action, due


def known(job_: Item | None, jobset_: Item | None, workload_: Item | None) -> Known:
    """What is known after these were listed; None means that the list was empty."""
    known = Known()
    see_all(known.see_jobs, [job_] if job_ else ())
    see_all(known.see_jobsets, [jobset_] if jobset_ else ())
    see_all(known.see_workloads, [workload_] if workload_ else ())
    return known


def action(known: Known) -> Action | None:
    """What is due for the Job; it is always its own Workload that it is due for."""
    if (switch := due(known, "job")) is None:
        return None
    assert (switch[1].namespace, switch[1].name) == ("team", "job-tune-node-0")
    return switch[0]
