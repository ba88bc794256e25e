"""The command `steps`: what to look at, one look or many, and in which form it is shown."""

import asyncio
import codecs
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Final, TextIO

import click

from webhook.cluster.connection import NoCluster, connected
from webhook.cluster.context import namespace_of
from webhook.cluster.listing import Unread, listed, pending
from webhook.rules.labels import is_object_name
from webhook.steps import text, watching
from webhook.steps.document import rendered
from webhook.steps.parents import JOBSET, TRAINJOB, parents
from webhook.steps.reading import Cluster, Refused, Scope, Unknown
from webhook.steps.tree import Admission, Parent, Tree
from webhook.steps.watching import Printed, Screen
from webhook.steps.wording import moment

__all__ = ["BadName", "NoCluster", "Unknown", "Wanted", "steps", "wanted"]

TIMEOUT_SECONDS: Final = 10.0
NAMED_AT_MOST: Final = 10
TABLE: Final = "table"
NAME_RULE: Final = (
    "it has lower case letters, digits, '-' and '.', and begins and ends with a letter or digit"
)
KINDS: Final = {
    "trainjob": TRAINJOB,
    "trainjobs": TRAINJOB,
    "jobset": JOBSET,
    "jobsets": JOBSET,
}


class BadName(Exception):
    """NAME, or the namespace, is none that an object can have; the message says what one is."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to show. `kind` is empty where a TrainJob comes first and a JobSet next.

    `namespace` is empty for all of them. `unqueued` is whether what Kueue does not queue is shown.
    """

    namespace: str
    kind: str = ""
    name: str = ""
    unqueued: bool = False


def wanted(
    kubeconfig: Path | None,
    namespace: str,
    name: str,
    *,
    everywhere: bool = False,
    unqueued: bool = False,
) -> Wanted:
    """What the arguments ask for. Raises BadName."""
    place = "" if everywhere else namespace or namespace_of(kubeconfig)
    if place and not is_object_name(place):
        raise BadName(f"{place!r} can't be a namespace: {NAME_RULE}.")
    kind, slash, rest = name.rpartition("/")
    if slash and (kind.lower() not in KINDS or not rest):
        raise BadName(f"{name!r} is no name: give NAME, trainjob/NAME or jobset/NAME.")
    if rest and not is_object_name(rest):
        raise BadName(f"{rest!r} can't be the name of a TrainJob or JobSet: {NAME_RULE}.")
    if slash:
        return Wanted(place, KINDS[kind.lower()], rest)
    return Wanted(place, name=rest, unqueued=unqueued)


def steps(kubeconfig: Path | None, wish: Wanted, form: str, *, watch: bool) -> None:
    """Print the tree once, or until SIGINT. Raises NoCluster, Unknown."""
    asyncio.run(_steps(kubeconfig, wish, form, watch=watch))


async def _steps(kubeconfig: Path | None, wish: Wanted, form: str, *, watch: bool) -> None:
    try:
        async with connected(kubeconfig) as api:
            cluster = Cluster(
                partial(listed, api, seconds=TIMEOUT_SECONDS),
                partial(pending, api, seconds=TIMEOUT_SECONDS),
            )
            look = partial(looked, cluster, wish)
            if watch:
                again = partial(look, is_cached=True)
                await watching.follow(look, again, _screen(form), _now)
            else:
                _print_once(await look(), form)
    except (Refused, Unread) as error:
        raise Unknown(str(error)) from error


async def looked(cluster: Cluster, wish: Wanted, *, is_cached: bool = False) -> Tree:
    """One look at the cluster; `is_cached` spares its store. Raises Unread, Refused, Unknown."""
    seen, notes = await cluster.look(Scope(wish.namespace, wish.name, is_cached))
    found = parents(seen)
    if not wish.name:
        shown = [one for one in found if wish.unqueued or one.admission is not Admission.NONE]
        return Tree(tuple(shown), len(found) - len(shown), notes)
    if not (named := _named(found, wish)):
        raise Unknown(await _what_there_is(cluster, wish, is_cached=is_cached))
    return Tree(tuple(named), 0, notes)


def _named(found: list[Parent], wish: Wanted) -> list[Parent]:
    """A JobSet that is a TrainJob's is shown with it."""
    trainjobs = [one for one in found if (one.kind, one.name) == (TRAINJOB, wish.name)]
    jobsets = [one for one in found if one.jobset == wish.name]
    if wish.kind:
        return trainjobs if wish.kind == TRAINJOB else jobsets
    return trainjobs or jobsets


async def _what_there_is(cluster: Cluster, wish: Wanted, *, is_cached: bool) -> str:
    seen, _ = await cluster.look(Scope(wish.namespace, is_cached=is_cached))
    there = [f"{one.kind.lower()}/{one.name}" for one in reversed(parents(seen))]
    more = f" and {len(there) - NAMED_AT_MOST} more" if len(there) > NAMED_AT_MOST else ""
    what = wish.kind or f"{TRAINJOB} and no {JOBSET}"
    listing = f"There are {', '.join(there[:NAMED_AT_MOST])}{more}." if there else "There are none."
    return f"There is no {what} named {wish.name} in namespace {wish.namespace}. {listing}"


def _now() -> datetime:
    return datetime.now(UTC)


def _block(form: str) -> Callable[[Tree, datetime], str]:
    if form == TABLE:
        return lambda tree, now: f"{moment(now)}\n{text.table(tree, now)}\n"
    return partial(rendered, form=form, is_line=True)


def _print_once(tree: Tree, form: str) -> None:
    if form != TABLE:
        click.echo(rendered(tree, _now(), form))
    elif is_live(sys.stdout):
        from webhook.steps import live  # noqa: PLC0415 - rich is an extra

        live.draw(tree, _now())
    else:
        click.echo(text.table(tree, _now()))


def _screen(form: str) -> Screen:
    if form == TABLE and is_live(sys.stdout):
        from webhook.steps import live  # noqa: PLC0415 - rich is an extra

        return live.terminal()
    return Printed(_block(form), click.echo)


def is_live(out: TextIO) -> bool:
    """Whether there is a terminal that can show the characters which the tree is drawn with."""
    can_draw = codecs.lookup(out.encoding or "ascii").name == "utf-8"
    return can_draw and out.isatty() and find_spec("rich") is not None
