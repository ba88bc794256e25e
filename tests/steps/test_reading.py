"""What is read, with which selectors, and what becomes of what can't be."""

from contextlib import suppress
from typing import Any

import pytest

from tests.steps.lists import REFUSED, Lists, queued
from tests.steps.made import jobset, trainjob
from webhook.cluster.listing import Unread
from webhook.steps.command import Wanted
from webhook.steps.reading import NO_KUEUE, Refused, Scope, Unknown


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
    lists = Lists(queued())
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


@pytest.mark.parametrize("is_cached", [False, True])
@pytest.mark.parametrize("name", ["", "tune", "other"])
def test_each_list_of_a_look_is_as_fresh_as_asked_for(name: str, *, is_cached: bool) -> None:
    """The first look is new, the others of a watch may lag behind."""
    lists = Lists(queued() if name != "other" else {})
    with suppress(Unknown):
        lists.tree(Wanted("team-a", name=name), is_cached=is_cached)
    assert {one.is_cached for one in lists.asked} == {is_cached}


NAMES: dict[str, tuple[Wanted, str]] = {
    "a TrainJob": (Wanted("team-a", name="tune"), "TrainJob"),
    "a TrainJob by its kind": (Wanted("team-a", "TrainJob", "tune"), "TrainJob"),
    "a JobSet that is a TrainJob's": (Wanted("team-a", "JobSet", "tune"), "TrainJob"),
}


@pytest.mark.parametrize(("wish", "kind"), NAMES.values(), ids=NAMES.keys())
def test_a_name_finds(wish: Wanted, kind: str) -> None:
    """The parent, whole."""
    [found] = Lists(queued()).tree(wish).parents
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
