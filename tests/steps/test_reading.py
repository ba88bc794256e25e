"""What is read, with which selectors, and what becomes of what can't be."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec
import pytest

from tests.steps.made import Object, condition, job, jobset, pending, trainjob, workload
from webhook.cluster.listing import Listing, Unread
from webhook.steps.command import Wanted, looked
from webhook.steps.reading import (
    NO_KUEUE,
    NO_RIGHT,
    NO_VISIBILITY,
    Cluster,
    Refused,
    Scope,
    Unknown,
)
from webhook.steps.tree import Tree

SCOPE = Scope("team-a")
REFUSED = Unread("forbidden", is_refused=True)
GONE = Unread("the API server can't be reached: gone")


@dataclass
class Lists:
    """A cluster of lists; `kinds` are by plural, `queues` what waits in each LocalQueue."""

    kinds: Mapping[str, Any] = field(default_factory=dict)
    queues: Mapping[str, Any] = field(default_factory=dict)
    asked: list[Listing] = field(default_factory=list)

    async def listed(self, listing: Listing) -> list[msgspec.Raw] | None:
        self.asked.append(listing)
        return self._answer(self.kinds.get(listing.plural, []))

    async def pending(self, _namespace: str, queue: str) -> list[msgspec.Raw] | None:
        return self._answer(self.queues.get(queue))

    def _answer(self, said: Any) -> list[msgspec.Raw] | None:
        if isinstance(said, Unread):
            raise said
        return None if said is None else [msgspec.Raw(json.dumps(item).encode()) for item in said]

    def look(self, scope: Scope = SCOPE) -> tuple[Any, tuple[str, ...]]:
        return asyncio.run(Cluster(self.listed, self.pending).look(scope))

    def tree(self, wish: Wanted) -> Tree:
        return asyncio.run(looked(Cluster(self.listed, self.pending), wish))


def _queued() -> dict[str, list[Object]]:
    """A TrainJob whose step waits in queue `gpus`."""
    head = trainjob()
    its = jobset(owner=head)
    data = job(its, "data")
    return {"trainjobs": [head], "jobsets": [its], "jobs": [data], "workloads": [workload(data)]}


def _data() -> Object:
    return job(jobset(owner=trainjob()), "data")


def test_a_namespace_is_read_by_what_belongs_to_jobsets_and_kueue() -> None:
    """Other Jobs and Workloads may be many."""
    lists = Lists()
    lists.look()
    assert [(one.path, one.labels, one.fields) for one in lists.asked] == [
        ("/apis/trainer.kubeflow.org/v1alpha1/namespaces/team-a/trainjobs", "", ""),
        ("/apis/jobset.x-k8s.io/v1alpha2/namespaces/team-a/jobsets", "", ""),
        ("/apis/batch/v1/namespaces/team-a/jobs", "jobset.sigs.k8s.io/jobset-name", ""),
        (
            "/apis/kueue.x-k8s.io/v1beta2/namespaces/team-a/workloads",
            "kueue.x-k8s.io/job-uid",
            "",
        ),
    ]


def test_one_name_is_read_alone() -> None:
    """And the Workloads of what was found under it."""
    lists = Lists(_queued())
    lists.look(Scope("team-a", "tune"))
    uids = "trainjob-tune,uid-tune,uid-tune-data-0"
    assert [(one.plural, one.labels, one.fields) for one in lists.asked] == [
        ("trainjobs", "", "metadata.name=tune"),
        ("jobsets", "", "metadata.name=tune"),
        ("jobs", "jobset.sigs.k8s.io/jobset-name=tune", ""),
        ("workloads", f"kueue.x-k8s.io/job-uid in ({uids})", ""),
    ]


def test_all_namespaces_are_read_at_once() -> None:
    """One list for each kind."""
    lists = Lists()
    lists.look(Scope(""))
    assert lists.asked[2].path == "/apis/batch/v1/jobs"
    assert len(lists.asked) == 4


def test_a_cluster_without_trainer_has_jobsets_only() -> None:
    """And one without Kueue has no Workloads, which is told."""
    seen, notes = Lists({"trainjobs": None, "jobsets": [jobset()]}).look()
    assert (seen.trainjobs, len(seen.jobsets), notes) == (None, 1, ())
    _, notes = Lists({"workloads": None}).look()
    assert notes == (NO_KUEUE,)


@pytest.mark.parametrize("kind", ["trainjobs", "jobsets", "jobs", "workloads"])
@pytest.mark.parametrize("namespace", ["team-a", ""])
def test_a_right_that_is_missing_is_named(kind: str, namespace: str) -> None:
    """Verb, kind and place, and where the rights are written down."""
    place = f"in namespace {namespace}" if namespace else "in all namespaces"
    with pytest.raises(Refused, match=rf"You may not list {kind}\.\S+ {place}\. .*docs/how-to"):
        Lists({kind: REFUSED}).look(Scope(namespace))


def test_an_object_of_an_unknown_shape_is_told() -> None:
    """As a failure that has words."""
    with pytest.raises(Unread, match=r"another shape than this version knows: .* `\$\.spec`"):
        Lists({"jobs": [{"metadata": {}, "spec": "none"}]}).look()


PLACES: dict[str, tuple[Any, int | None, tuple[str, ...]]] = {
    "told": ([pending(_data(), 2, 3)], 3, ()),
    "no API": (None, None, (NO_VISIBILITY,)),
    "no right": (REFUSED, None, (f"no positions in the queues are told: {NO_RIGHT}",)),
    "no answer": (GONE, None, (f"no positions in the queues are told: {GONE}",)),
    "it is in no queue any more": ([], None, ()),
}


@pytest.mark.parametrize(("said", "place", "notes"), PLACES.values(), ids=PLACES.keys())
def test_the_position_is(said: Any, place: int | None, notes: tuple[str, ...]) -> None:
    """Kueue's, or none, and then it is said why."""
    tree = Lists(_queued(), {"gpus": said}).tree(Wanted("team-a"))
    position = tree.parents[0].steps[0].standing.position
    assert (position and position.local, tree.notes) == (place, notes)


def test_no_position_is_asked_for_where_nothing_waits() -> None:
    """Nor is it told that there is none."""
    kinds = _queued()
    admitted = workload(kinds["jobs"][0], condition("QuotaReserved"))
    for workloads in ([], [admitted]):
        _, notes = Lists({**kinds, "workloads": workloads}, {"gpus": REFUSED}).look()
        assert notes == ()


def test_one_queue_that_is_there_shows_that_the_api_is() -> None:
    """Another that does not exist is no reason for a note."""
    kinds = _queued()
    other = workload(kinds["trainjobs"][0], spec={"queueName": "nowhere"})
    _, notes = Lists({**kinds, "workloads": [*kinds["workloads"], other]}, {"gpus": []}).look()
    assert notes == ()


NAMES: dict[str, tuple[Wanted, str]] = {
    "a TrainJob": (Wanted("team-a", name="tune"), "TrainJob"),
    "a TrainJob by its kind": (Wanted("team-a", "TrainJob", "tune"), "TrainJob"),
    "a JobSet that is a TrainJob's": (Wanted("team-a", "JobSet", "tune"), "TrainJob"),
}


@pytest.mark.parametrize(("wish", "kind"), NAMES.values(), ids=NAMES.keys())
def test_a_name_finds(wish: Wanted, kind: str) -> None:
    """The parent, whole."""
    [found] = Lists(_queued()).tree(wish).parents
    assert (found.kind, found.name) == (kind, "tune")


def test_a_bare_name_finds_a_jobset_where_there_is_no_trainjob() -> None:
    """Queued by Kueue or not."""
    [found] = Lists({"jobsets": [jobset(labels={})]}).tree(Wanted("team-a", name="tune")).parents
    assert found.kind == "JobSet"


NONE_IS_NAMED_SO = "There is no TrainJob and no JobSet named other in namespace team-a."
MISSING: dict[str, tuple[Wanted, dict[str, Any], str]] = {
    "nothing is there": (
        Wanted("team-a", name="other"),
        {},
        f"{NONE_IS_NAMED_SO} There are none.",
    ),
    "something else is there": (
        Wanted("team-a", name="other"),
        {"trainjobs": [trainjob()], "jobsets": [jobset(name="lone", made=1)]},
        f"{NONE_IS_NAMED_SO} There are jobset/lone, trainjob/tune.",
    ),
    "it is of the other kind": (
        Wanted("team-a", "TrainJob", "tune"),
        {"jobsets": [jobset()]},
        "There is no TrainJob named tune in namespace team-a. There are jobset/tune.",
    ),
    "much is there": (
        Wanted("team-a", name="other"),
        {"trainjobs": [trainjob(name=f"t{number:02}", made=number) for number in range(12)]},
        f"{NONE_IS_NAMED_SO} There are "
        + ", ".join(f"trainjob/t{number:02}" for number in range(10))
        + " and 2 more.",
    ),
}


@pytest.mark.parametrize(("wish", "kinds", "message"), MISSING.values(), ids=MISSING.keys())
def test_a_name_that_there_is_not_is_told(
    wish: Wanted, kinds: dict[str, Any], message: str
) -> None:
    """With what there is, newest first."""
    with pytest.raises(Unknown) as error:
        Lists(kinds).tree(wish)
    assert str(error.value) == message


def test_what_kueue_does_not_queue_is_counted() -> None:
    """And shown on request."""
    kinds = {"jobsets": [jobset(), jobset(name="loose", labels={})]}
    tree = Lists(kinds).tree(Wanted("team-a"))
    assert ([one.name for one in tree.parents], tree.left_out) == (["tune"], 1)
    tree = Lists(kinds).tree(Wanted("team-a", unqueued=True))
    assert ([one.name for one in tree.parents], tree.left_out) == (["loose", "tune"], 0)
