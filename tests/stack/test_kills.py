"""Controllers, the API server and we ourselves are killed at the worst moments, and come back.

The control plane is every stack test's: whatever is killed here is running again, and answering,
when its test has ended.
"""

import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import pytest

from localcluster.audit import Event
from localcluster.cluster import Cluster
from localcluster.errors import KubectlError
from localcluster.invariants.violation import Invariant
from tests.stack.companions import second_replica, without_rights, writes_of_companions
from tests.stack.objects import (
    PAUSED,
    Object,
    cluster_queue,
    job,
    jobset,
    step,
    training_runtime,
    trainjob,
)
from tests.stack.team import (
    Team,
    conditions,
    eventually,
    is_suspended,
    started_before_admission,
    would_store,
)
from tests.stack.writes_of_jobs import JOBSET, KUEUE

FIRST, LAST = "work-dataset-initializer-0", "work-node-0"
COMPONENTS = ("kube-apiserver", "kueue", "jobset", "trainer", "webhook")
REFUSED = 400
OUTAGE_SECONDS = 20.0
LATE = pytest.mark.exempt(Invariant.START, because="Kueue comes back late to what it has admitted")
KILLED = [
    pytest.param(name, marks=LATE if name in {"kube-apiserver", "kueue"} else ())
    for name in COMPONENTS
]

pytestmark = pytest.mark.alone


@pytest.fixture(autouse=True)
def _all_is_running(cluster: Cluster, team: Team) -> Iterator[None]:
    """After each test every component runs, and the webhooks of all of them answer."""
    yield
    dead = {item.name for item in cluster.status() if item.state == "dead"}
    for name in COMPONENTS:
        if name in dead:
            cluster.start(name)
    _answers(team)
    _is_followed(team)


def _is_followed(team: Team) -> None:
    """Return when Kueue knows a new namespace, as the next test makes one.

    After a restart of the API server Kueue's watches come back one by one, and a Job in a namespace
    it does not know is passed over until it changes (jobframework/reconciler.go in v0.19.2).
    """
    new = Team.create(team.cluster, f"after-{secrets.token_hex(4)}")

    def is_seen() -> bool:
        new.apply([job(f"probe-{secrets.token_hex(4)}", new.namespace, new.label)])
        time.sleep(0.3)
        return bool(new.workloads())

    eventually(is_seen, "Kueue makes a Workload in a new namespace")


def _answers(team: Team) -> None:
    """Return when a TrainJob and a JobSet would be taken: each is reviewed by all of us."""
    steps = (step("a"), step("b", "a"))
    probes = (
        trainjob("probe", team.namespace, team.label, runtimeRef={"name": "torch-distributed"}),
        jobset("probe", team.namespace, team.label, *steps),
    )
    eventually(lambda: all(_is_taken(team, item) for item in probes), "all webhooks answer")


def _is_taken(team: Team, item: Object) -> bool:
    try:
        would_store(team.cluster, item)
    except KubectlError:
        return False
    return True


@contextmanager
def _down(team: Team, component: str) -> Iterator[None]:
    """The component is killed, and runs again after the block."""
    team.cluster.kill(component)
    try:
        yield
    finally:
        team.cluster.start(component)


def _submitted(team: Team, **times: str) -> None:
    """A TrainJob `work` of three steps, the last one with all the GPUs."""
    times = {"download": "1s", "train": "2s"} | times
    team.apply([training_runtime("steps", team.namespace, gpus=8, **times)])
    team.submit(trainjob("work", team.namespace, team.label))


def _while_queued(team: Team, component: str) -> None:
    _held(team)
    with _down(team, component):
        # Kueue and the API server themselves have to take the new quota: it comes after them.
        if component not in {"kueue", "kube-apiserver"}:
            _make_room(team)
    _make_room(team)


def _while_admitted(team: Team, component: str) -> None:
    _submitted(team)
    team.await_event("workloads", _is_of_last_step_and_reserved, "quota for the training step")
    with _down(team, component):
        pass


def _as_each_step_ends(team: Team, component: str) -> None:
    _submitted(team)
    for name in (FIRST, LAST):
        team.await_event("pods", partial(_is_done, name), f"the pod of {name} ends")
        with _down(team, component):
            pass


MOMENTS: dict[str, Callable[[Team, str], None]] = {
    "queued": _while_queued,
    "admitted": _while_admitted,
    "ending": _as_each_step_ends,
}


@pytest.mark.parametrize("component", KILLED)
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_trainjob_finishes_whatever_is_killed(team: Team, moment: str, component: str) -> None:
    """Killed while a step is queued, admitted or ends, each component costs time and no more."""
    MOMENTS[moment](team, component)
    team.await_condition("trainjobs", "work", "Complete")
    assert len(team.workloads()) == 3
    assert list(started_before_admission(team)) == []


def test_while_we_are_down_admitted_steps_go_on_and_kueue_starts_the_next(team: Team) -> None:
    """A TrainJob ends without us, and another one's queued step gets its GPUs and starts."""
    _held(team, train="10s")
    team.submit(trainjob("next", team.namespace, team.label))
    team.workload_of("next-node-0")
    _make_room(team)
    team.await_running(LAST)
    with _down(team, "webhook"):
        assert is_suspended(team.one("jobs", "next-node-0"))
        assert team.running_pod(LAST)
        team.await_condition("trainjobs", "work", "Complete")
        team.await_running("next-node-0")
        starts = [item for item in team.writes("jobs", "update", "patch") if item.user == KUEUE]
        assert "next-node-0" in {item.name for item in starts if item.code < REFUSED}
        assert _is_dead(team.cluster, "webhook")
    team.await_condition("trainjobs", "next", "Complete")
    assert list(started_before_admission(team)) == []


def test_while_we_are_down_nothing_starts_that_is_not_admitted(team: Team) -> None:
    """Nobody answers for a while: JobSet's attempts and new TrainJobs fail, the held step stays.

    Twenty seconds and not a minute: JobSet's pause between attempts doubles each time, so that a
    minute would bring two attempts more.
    """
    _held(team)
    with _down(team, "webhook"):
        end = time.monotonic() + OUTAGE_SECONDS
        with pytest.raises(KubectlError, match=r"trainjobs\.kueue-steps\.io"):
            team.submit(trainjob("other", team.namespace, team.label))
        # A JobSet controller that starts looks at everything anew, and resumes what is suspended.
        team.cluster.restart("jobset")
        eventually(lambda: _refused(team, "update"), "an attempt of JobSet fails")
        while time.monotonic() < end:
            assert is_suspended(team.one("jobs", LAST))
            assert team.pods_of(LAST) == []
            time.sleep(0.5)
        assert _is_dead(team.cluster, "webhook")
    _make_room(team)
    team.await_condition("trainjobs", "work", "Complete")
    assert list(started_before_admission(team)) == []


def test_when_we_are_back_the_chain_goes_on_by_itself(team: Team) -> None:
    """Downloads that end while we are down are followed by the training step when we are back."""
    _submitted(team, download="10s")
    team.await_running(FIRST)
    with _down(team, "webhook"):
        team.await_condition("jobs", FIRST, "Complete")
        eventually(lambda: len(_refused(team, "create")) > 2, "the next step cannot be made")
        assert team.find("jobs", LAST) is None
    team.await_condition("trainjobs", "work", "Complete")
    assert list(started_before_admission(team)) == []


def test_two_companions_settle_a_pause_and_a_resume(team: Team) -> None:
    """With a second replica, pause and resume cost a few writes of the Workload and no quarrel."""
    with second_replica(team):
        _submitted(team, train="10s")
        team.await_running(LAST)
        team.suspend("trainjob", "work", True)
        eventually(lambda: _is_given_back(team), "pods gone, quota back")
        team.suspend("trainjob", "work", False)
        team.await_condition("trainjobs", "work", "Complete")
    writes = writes_of_companions(team)
    stored = [item for item in writes if item.code < REFUSED]
    assert 2 <= len(stored) <= 4
    assert len(writes) <= 10


def test_a_pause_after_an_api_server_restart_gives_the_quota_back(team: Team) -> None:
    """The companion finds the API server again, and sees a pause that comes at once."""
    _submitted(team, train="5m")
    team.await_running(LAST)
    with _down(team, "kube-apiserver"):
        pass
    eventually(lambda: _is_suspended(team), "the pause is taken")
    eventually(lambda: _is_given_back(team), "pods gone, quota back")
    team.suspend("trainjob", "work", False)
    team.await_running(LAST)
    assert list(started_before_admission(team)) == []
    team.cluster.kubectl("delete", "trainjob", "work", "-n", team.namespace, user="alice")


def test_a_pause_that_we_do_not_hear_of_is_refused(team: Team) -> None:
    """While we are down nobody can pause: the step goes on, and can be paused when we are back."""
    _submitted(team, train="5m")
    team.await_running(LAST)
    with _down(team, "webhook"):
        with pytest.raises(KubectlError, match=r"trainjobs\.kueue-steps\.io"):
            team.suspend("trainjob", "work", True)
        assert team.running_pod(LAST)
        assert _is_last_step_admitted(team)
    team.suspend("trainjob", "work", True)
    eventually(lambda: _is_given_back(team), "pods gone, quota back")


def test_a_pause_is_completed_if_we_die_right_after_it(team: Team) -> None:
    """Killed when the pause was taken and nothing followed from it yet, we finish it when back."""
    _submitted(team, train="5m")
    team.await_running(LAST)
    team.suspend("trainjob", "work", True)
    with _down(team, "webhook"):
        assert _is_last_step_admitted(team) or not team.running_pod(LAST)
    eventually(lambda: _is_given_back(team), "pods gone, quota back")


def test_a_pause_is_completed_if_we_die_as_the_job_is_stopped(team: Team) -> None:
    """Killed between the stop of the Job and the switch of its Workload, we finish it when back."""
    _submitted(team, train="5m")
    team.await_running(LAST)
    with without_rights(team.cluster):
        team.suspend("trainjob", "work", True)
        team.await_event("jobs", _is_paused_last_step, "the training step is stopped")
        team.cluster.kill("webhook")
    eventually(lambda: not team.pods_of(LAST), "its pod is gone")
    assert is_suspended(team.one("jobs", LAST))
    eventually(lambda: team.reserved() == 8, "the quota is still taken")
    team.cluster.start("webhook")
    eventually(lambda: _is_given_back(team), "pods gone, quota back")


def test_without_its_companion_a_paused_step_keeps_its_quota_and_does_not_run(team: Team) -> None:
    """A companion that may not write leaves a stopped step, no quarrel, and makes up for it."""
    with without_rights(team.cluster):
        _submitted(team, train="10s")
        team.await_running(LAST)
        team.suspend("trainjob", "work", True)
        team.await_condition("jobs", LAST, "Suspended")
        eventually(lambda: not team.pods_of(LAST), "its pod is gone")
        eventually(lambda: team.reserved() == 8, "the ClusterQueue's status shows the quota")
        before, begun = len(team.writes("jobs", "update", "patch")), time.monotonic()
        for _ in range(5):
            assert is_suspended(team.one("jobs", LAST))
            assert team.pods_of(LAST) == []
            assert team.reserved() == 8
            time.sleep(0.5)
        written = len(team.writes("jobs", "update", "patch")) - before
        assert written <= 4 * (time.monotonic() - begun)
    eventually(lambda: _is_given_back(team), "quota back")
    team.suspend("trainjob", "work", False)
    team.await_condition("trainjobs", "work", "Complete")
    assert list(started_before_admission(team)) == []


def test_a_companion_that_may_not_write_tries_once_a_second(team: Team) -> None:
    """However often the Job and its Workload change meanwhile, there is one retry in flight."""
    _submitted(team, train="5m")
    team.await_running(LAST)
    with without_rights(team.cluster):
        team.suspend("trainjob", "work", True)
        eventually(lambda: not team.pods_of(LAST), "its pod is gone")
        before, begun = len(writes_of_companions(team)), time.monotonic()
        time.sleep(5)
        tries = len(writes_of_companions(team)) - before
        assert tries <= time.monotonic() - begun + 2
    eventually(lambda: _is_given_back(team), "quota back")


def _held(team: Team, **times: str) -> None:
    team.cluster.apply([cluster_queue(team.namespace, gpus=1)])
    _submitted(team, **times)
    team.workload_of(LAST)


def _is_suspended(team: Team) -> bool:
    try:
        team.suspend("trainjob", "work", True)
    except KubectlError:
        return False
    return True


def _is_last_step_admitted(team: Team) -> bool:
    return "Admitted" in conditions(team.workload_of(LAST))


def _is_given_back(team: Team) -> bool:
    return not team.running_pod(LAST) and team.reserved() == 0


def _is_paused_last_step(job: Object) -> bool:
    metadata = job["metadata"]
    return metadata["name"] == LAST and PAUSED in metadata.get("annotations", {})


def _is_dead(cluster: Cluster, name: str) -> bool:
    return name in {item.name for item in cluster.status() if item.state == "dead"}


def _refused(team: Team, verb: str) -> list[Event]:
    """JobSet's writes of Jobs that failed."""
    return [
        item for item in team.writes("jobs", verb) if item.user == JOBSET and item.code >= REFUSED
    ]


def _make_room(team: Team) -> None:
    queue = cluster_queue(team.namespace, gpus=8)
    eventually(lambda: _is_applied(team, queue), "the new quota is taken")


def _is_applied(team: Team, item: Object) -> bool:
    try:
        team.cluster.apply([item])
    except KubectlError:
        return False
    return True


def _is_of_last_step_and_reserved(workload: Object) -> bool:
    owners = workload["metadata"].get("ownerReferences") or [{"name": ""}]
    return owners[0]["name"] == LAST and "QuotaReserved" in conditions(workload)


def _is_done(job: str, pod: Object) -> bool:
    of = pod["metadata"]["labels"].get("batch.kubernetes.io/job-name")
    return (of, pod["status"].get("phase")) == (job, "Succeeded")
