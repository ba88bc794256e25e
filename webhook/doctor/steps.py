"""Steps as they stand: started without admission, held for ever, paused without effect."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from webhook.doctor import questions
from webhook.doctor.case import Case
from webhook.doctor.findings import Note, error, warning
from webhook.rules import names

ENDED: Final = frozenset({"Complete", "Failed"})
COMPANION: Final = "Look for `companion` in the server's log, and run doctor again in a minute."

Object = Mapping[str, Any]


def started_unadmitted(case: Case) -> Iterator[Note]:
    """Jobs that run although Kueue has not admitted them: the hold was bypassed."""
    workloads = _workloads(case)
    for job in _unfinished(case):
        workload = workloads.get(job["metadata"]["uid"])
        if not _is_suspended(job) and not (workload and _is_or_was_admitted(workload)):
            yield error(
                _subject("Job", job),
                "It is not suspended although Kueue has not admitted it.",
                "Suspend it, and look who un-suspended it: the registrations above, "
                "and the audit log of the API server.",
            )


def held_for_ever(case: Case) -> Iterator[Note]:
    """Suspended Jobs whose LocalQueue does not exist."""
    there = {
        (item["metadata"]["namespace"], item["metadata"]["name"])
        for item in case.items(questions.local_queues(case.namespace))
    }
    for job in _unfinished(case):
        queue = job["metadata"]["labels"].get(names.QUEUE)
        if _is_suspended(job) and (job["metadata"]["namespace"], queue) not in there:
            lacks = f"LocalQueue {queue} does not exist" if queue else "it has no queue"
            yield error(
                _subject("Job", job),
                f"It is held until Kueue admits it, which can't be: {lacks}.",
                f"Create the LocalQueue in namespace {job['metadata']['namespace']}, "
                "or delete the TrainJob or JobSet and submit it to another queue.",
            )


def unsettled_pauses(case: Case) -> Iterator[Note]:
    """Pauses that have not reached the Workload, or have not left it: nobody switches them."""
    workloads = _workloads(case)
    for job in _unfinished(case):
        workload = workloads.get(job["metadata"]["uid"])
        if workload is None:
            continue
        is_active = workload["spec"].get("active", True)
        if _is_marked(job) and is_active:
            message = f"Job {job['metadata']['name']} is paused, but it still holds its place."
        elif not _is_marked(job) and _is_marked(workload) and not is_active:
            message = f"Job {job['metadata']['name']} is not paused, but it is kept inactive."
        else:
            continue
        yield warning(_subject("Workload", workload), message, COMPANION)


def _unfinished(case: Case) -> Iterator[Any]:
    for job in case.items(questions.jobs(case.namespace)):
        if not job["metadata"].get("deletionTimestamp") and not _true(job) & ENDED:
            yield job


def _workloads(case: Case) -> dict[str, Any]:
    """Workloads by the uid of their Job; of several (elastic Jobs) the one that is admitted."""
    items = sorted(case.items(questions.workloads(case.namespace)), key=_is_or_was_admitted)
    return {item["metadata"]["labels"][names.JOB_UID]: item for item in items}


def _is_or_was_admitted(workload: Object) -> bool:
    """One that is being evicted or has finished counts: its Job is about to follow."""
    return bool(_true(workload) & {"Admitted", "Evicted", "Finished"})


def _true(item: Object) -> set[str]:
    conditions = (item.get("status") or {}).get("conditions") or ()
    return {condition["type"] for condition in conditions if condition["status"] == "True"}


def _is_suspended(job: Object) -> bool:
    return bool(job["spec"].get("suspend"))


def _is_marked(item: Object) -> bool:
    return names.PAUSED in (item["metadata"].get("annotations") or {})


def _subject(kind: str, item: Object) -> str:
    return f"{kind} {item['metadata']['namespace']}/{item['metadata']['name']}"
