"""Submit, and take down what the API server posts, until there is one review of each sort."""

import json
from collections.abc import Collection
from typing import Final

from bench.errors import Unmeasured
from bench.latency import submissions
from bench.latency.recorder import Recorder, recording
from bench.latency.reviews import Review, Size, What, find, key, source
from bench.latency.submissions import SUBMISSIONS, Submission
from bench.patience import await_true
from localcluster.cluster import Cluster
from localcluster.demo.trace import NODE, USER
from localcluster.errors import KubectlError

PROBE: Final = Submission("probe", 0, submissions.SHORT_RUNTIME)


def record(
    cluster: Cluster, namespace: str, wanted: Collection[tuple[What, Size]]
) -> dict[str, Review]:
    """The reviews by their names; what was submitted for them stays. Raises Unmeasured."""
    sources = {source(*item) for item in wanted}
    sent = [item for item in SUBMISSIONS if item.name in sources]
    last = {What.JOB_UPDATE_BY_USER, What.JOB_UPDATE_BY_KUEUE}
    cluster.apply(submissions.place(namespace))
    with recording(cluster, namespace) as recorder:
        await_true(lambda: _is_recorded(cluster, recorder, namespace), "the recorder is called")
        for item in sent:
            text = json.dumps(submissions.trainjob(item, namespace))
            cluster.kubectl("create", "-f", "-", stdin=text, user=USER)
        _await(recorder, [item for item in wanted if item[0] not in last])
        for what, size in wanted:
            if what is What.JOB_UPDATE_BY_USER:
                _start_by_hand(cluster, namespace, source(what, size))
        cluster.apply([submissions.cluster_queue(namespace, gpus=submissions.GPUS)])
        found = _await(recorder, wanted)
        await_true(lambda: _all_run(cluster, namespace, len(sent)), "the last steps run")
    return {name: found[name] for name in sorted(key(*item) for item in wanted)}


def _is_recorded(cluster: Cluster, recorder: Recorder, namespace: str) -> bool:
    """Is the runtime known, and the recorder called before a dry run is answered?"""
    probe = json.dumps(submissions.trainjob(PROBE, namespace))
    try:
        cluster.kubectl("create", "--dry-run=server", "-f", "-", stdin=probe)
    except KubectlError:
        return False
    return bool(recorder.bodies)


def _start_by_hand(cluster: Cluster, namespace: str, name: str) -> None:
    patch = ("--type=merge", "-p", '{"spec":{"suspend":false}}')
    cluster.kubectl("patch", "job", f"{name}-{NODE}-0", "-n", namespace, *patch, user=USER)


def _await(recorder: Recorder, wanted: Collection[tuple[What, Size]]) -> dict[str, Review]:
    """The first review of each of these sorts, once all have come."""
    names = {key(*item) for item in wanted}
    found: dict[str, Review] = {}
    seen = 0

    def have_come() -> bool:
        nonlocal seen
        while seen < len(recorder.bodies):
            for review in find(recorder.bodies[seen]):
                found.setdefault(review.key, review)
            seen += 1
        return names <= found.keys()

    try:
        await_true(have_come, "the reviews")
    except Unmeasured as error:
        missing = ", ".join(sorted(names - found.keys()))
        raise Unmeasured(f"the API server did not post every review; missing: {missing}") from error
    return found


def _all_run(cluster: Cluster, namespace: str, count: int) -> bool:
    pods = cluster.get("pods", namespace=namespace)["items"]
    running = [pod for pod in pods if pod["status"].get("phase") == "Running"]
    return len(running) == count
