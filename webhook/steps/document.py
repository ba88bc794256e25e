"""The tree for programs: JSON and YAML. Fields may be added; none is renamed or taken away."""

import json
from datetime import datetime
from typing import Any

import yaml

from webhook import __version__
from webhook.demand.quantities import Amounts, written
from webhook.steps.tree import Eviction, Parent, Position, Span, Standing, Step, Tree
from webhook.steps.wording import is_accelerator, moment


def rendered(tree: Tree, now: datetime, form: str, *, is_line: bool = False) -> str:
    """The document as json or yaml; `is_line` makes it one line of JSON, one document of YAML."""
    content = document(tree, now)
    if form == "json":
        return json.dumps(content, indent=None if is_line else 2)
    text = yaml.safe_dump(content, sort_keys=False, width=100).rstrip()
    return f"---\n{text}" if is_line else text


def document(tree: Tree, now: datetime) -> dict[str, Any]:
    """The stable shape. Times are RFC 3339 in UTC, lengths of time whole seconds."""
    return {
        "version": __version__,
        "time": moment(now),
        "parents": [_parent(parent, now) for parent in tree.parents],
        "leftOut": tree.left_out,
        "notes": list(tree.notes),
        "problem": tree.problem or None,
    }


def _parent(parent: Parent, now: datetime) -> dict[str, Any]:
    return {
        "kind": parent.kind,
        "namespace": parent.namespace,
        "name": parent.name,
        "created": _moment(parent.created),
        "deleting": parent.is_being_deleted,
        "admission": parent.admission.value,
        "record": dict(parent.record),
        **_requests(parent.requests),
        **_standing(parent.standing, now),
        "steps": [_step(step, now) for step in parent.steps],
    }


def _step(step: Step, now: datetime) -> dict[str, Any]:
    return {
        "name": step.name,
        "job": step.job,
        "waitsFor": list(step.waits_for),
        "pods": {"ready": step.ready, "total": step.pods},
        **_requests(step.requests),
        **_standing(step.standing, now),
    }


def _standing(standing: Standing, now: datetime) -> dict[str, Any]:
    return {
        "state": standing.state.value,
        "reason": standing.reason or None,
        "message": standing.message or None,
        "since": _moment(standing.since),
        "queue": standing.queue,
        "clusterQueue": standing.cluster_queue,
        "position": _position(standing.position),
        "flavors": dict(standing.flavors),
        "eviction": _eviction(standing.eviction),
        "secondsQueued": _seconds(standing.queued, now),
        "secondsRun": _seconds(standing.run, now),
    }


def _position(position: Position | None) -> dict[str, int] | None:
    if position is None:
        return None
    return {"localQueue": position.local, "clusterQueue": position.cluster}


def _eviction(eviction: Eviction | None) -> dict[str, Any] | None:
    if eviction is None:
        return None
    at = _moment(eviction.at)
    return {"reason": eviction.reason, "message": eviction.message, "time": at}


def _requests(amounts: Amounts) -> dict[str, Any]:
    requests = {key: written(amounts[key]) for key in sorted(amounts)}
    gpus = {key: value for key, value in requests.items() if is_accelerator(key)}
    return {"requests": requests, "gpus": gpus}


def _moment(when: datetime | None) -> str | None:
    return None if when is None else moment(when)


def _seconds(span: Span | None, now: datetime) -> int | None:
    return None if span is None else span.until(now)
