"""Places in the queues: whose they are, and what is said where there are none."""

from typing import Any

import pytest

from tests.steps.lists import GONE, REFUSED, Lists, data, queued
from tests.steps.made import condition, jobset, pending, workload
from webhook.cluster.listing import NoQueue
from webhook.steps.command import Wanted
from webhook.steps.places import NO_RIGHT, NOT_SERVED, no_positions

PLACES: dict[str, tuple[Any, int | None, tuple[str, ...]]] = {
    "told": ([pending(data(), 2, 3)], 3, ()),
    "no API": (None, None, (no_positions(NOT_SERVED),)),
    "no right": (REFUSED, None, (no_positions(NO_RIGHT),)),
    "no answer": (GONE, None, (no_positions(str(GONE)),)),
    "no queue": (NoQueue(), None, ("LocalQueue team-a/gpus does not exist",)),
    "it is in no queue any more": ([], None, ()),
}


@pytest.mark.parametrize(("said", "place", "notes"), PLACES.values(), ids=PLACES.keys())
def test_the_position_is(said: Any, place: int | None, notes: tuple[str, ...]) -> None:
    """Kueue's, or none, and then it is said why."""
    tree = Lists(queued(), {"gpus": said}).tree(Wanted("team-a"))
    position = tree.parents[0].steps[0].standing.position
    assert (position and position.local, tree.notes) == (place, notes)


def test_no_position_is_asked_for_where_nothing_waits() -> None:
    """Nor is it told that there is none."""
    kinds = queued()
    admitted = workload(kinds["jobs"][0], condition("QuotaReserved"))
    for workloads in ([], [admitted]):
        _, notes = Lists({**kinds, "workloads": workloads}, {"gpus": REFUSED}).look()
        assert notes == ()


OTHERS: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "may not be looked into": (
        {"b": REFUSED},
        (no_positions(NO_RIGHT, "team-a/b"),),
    ),
    "does not answer": ({"b": GONE}, (no_positions(str(GONE), "team-a/b"),)),
    "is of another shape": (
        {"b": [{"metadata": 1}]},
        (
            no_positions(
                "an object is of another shape than this version knows: "
                "Expected `object`, got `int` - at `$.metadata`",
                "team-a/b",
            ),
        ),
    ),
    "does not exist": ({"b": NoQueue()}, ("LocalQueue team-a/b does not exist",)),
    "does not exist, nor do more": (
        {name: NoQueue() for name in "bcdef"},
        ("LocalQueues team-a/b, team-a/c, team-a/d and 2 more do not exist",),
    ),
    "fails for one reason, and others for another": (
        {"b": REFUSED, "c": GONE, "d": REFUSED},
        (
            no_positions(NO_RIGHT, "team-a/b, team-a/d"),
            no_positions(str(GONE), "team-a/c"),
        ),
    ),
}


@pytest.mark.parametrize(("others", "notes"), OTHERS.values(), ids=OTHERS.keys())
def test_positions_are_told_though_another_queue(
    others: dict[str, Any], notes: tuple[str, ...]
) -> None:
    """Of that one nothing is told, and each reason once."""
    kinds = queued()
    more = [workload(jobset(name=name), spec={"queueName": name}) for name in others]
    queues = {"gpus": [pending(data(), 2, 3)], **others}
    tree = Lists({**kinds, "workloads": [*kinds["workloads"], *more]}, queues).tree(
        Wanted("team-a")
    )
    position = tree.parents[0].steps[0].standing.position
    assert (position and position.local, tree.notes) == (3, notes)
