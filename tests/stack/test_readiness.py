"""waitForPodsReady with steps: a time-out concerns one step (C28)."""

from collections.abc import Callable, Iterator

import pytest

from localcluster.cluster import Cluster
from tests.stack.objects import jobset, step
from tests.stack.team import Team


@pytest.fixture
def pods_ready_in_time(turn: None, cluster: Cluster) -> Iterator[None]:
    """Kueue evicts what is not ready after five seconds, and tries again a second later."""
    requeuing = {"timestamp": "Eviction", "backoffBaseSeconds": 1, "backoffMaxSeconds": 2}
    wait = {"timeout": "5s", "recoveryTimeout": "5s", "requeuingStrategy": requeuing}
    before = cluster.options.kueue_extra
    cluster.configure_kueue(extra={**before, "waitForPodsReady": wait})
    yield
    cluster.configure_kueue(extra=before)


@pytest.mark.alone
@pytest.mark.usefixtures("pods_ready_in_time")
def test_c28_a_step_that_is_not_ready_in_time_is_evicted_alone(
    team: Team, node_label: Callable[[], None]
) -> None:
    """C28: a time-out evicts the one step that waits for a node; what is done stays done."""
    waiting = step("train", gpus=8, run_for="1s")
    waiting["template"]["spec"]["template"]["spec"]["nodeSelector"] = {team.namespace: "yes"}
    team.submit(
        jobset(
            "tune",
            team.namespace,
            team.label,
            step("a"),
            waiting | {"dependsOn": [{"name": "a", "status": "Complete"}]},
        )
    )
    done = team.await_condition("jobs", "tune-a-0", "Complete")["metadata"]["uid"]
    team.await_evicted("tune-train-0", "PodsReadyTimeout")
    node_label()
    team.await_condition("jobsets", "tune", "Completed")
    assert team.uids("tune-a-0") == {"tune-a-0": done}
    assert len(team.workloads()) == 2


@pytest.fixture
def node_label(cluster: Cluster, team: Team) -> Iterator[Callable[[], None]]:
    """Gives all nodes the label that the team's pods select, when it is called.

    Pods of other tests may still hold some of them.
    """

    def label() -> None:
        cluster.kubectl("label", "nodes", "--all", f"{team.namespace}=yes")

    yield label
    cluster.kubectl("label", "nodes", "--all", f"{team.namespace}-")
