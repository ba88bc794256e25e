"""The command `preview`: read the files, ask the rules, report."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from webhook import settings
from webhook.preview.answers import is_parent
from webhook.preview.documents import BadFile, Document, read
from webhook.preview.judgement import Judge
from webhook.preview.known import Counted, Known, Offline, described
from webhook.preview.report import Report, rendered
from webhook.rules.facts import Key, Reader
from webhook.rules.trainjob import RUNTIME_PLURALS
from webhook.settings import BadConfiguration, Configuration

PATIENCE: Final = 15.0
"""Seconds for each answer of the cluster: a person can wait longer than an API server may."""

__all__ = ["BadConfiguration", "BadFile", "Look", "OutOfSight", "preview", "rendered"]


class OutOfSight(Exception):
    """The cluster that should be looked at can't be; the message says what was tried."""


@dataclass(frozen=True, slots=True)
class Look:
    """What to preview, and what may be looked at: the files alone, or a cluster behind them."""

    files: Sequence[str]
    stdin: IO[bytes]
    namespace: str
    config: Path | None = None
    cluster: bool = False
    kubeconfig: Path | None = None


class Gaps:
    """What could not be read, once each; a TrainJob tells of its runtime itself."""

    def __init__(self) -> None:
        self.notes: dict[Key, str] = {}

    def unreadable(self, key: Key, why: str) -> None:
        """An object that a rule asked for could not be read."""
        if key.plural not in RUNTIME_PLURALS.values():
            self.notes[key] = f"{described(key)} can't be read: {why}"


def preview(look: Look) -> Report:
    """What the server would make of the files. Raises BadFile, BadConfiguration, OutOfSight."""
    documents = [document for file in look.files for document in read(file, look.stdin)]
    configuration = settings.load(look.config)
    if look.cluster:
        return asyncio.run(_live(look, documents, configuration))
    return asyncio.run(_report(look, documents, configuration, Offline()))


async def _live(look: Look, documents: list[Document], configuration: Configuration) -> Report:
    # Imported here, so that a look at files need not wait for the client library.
    from webhook.cluster.connection import NoCluster, connected  # noqa: PLC0415
    from webhook.cluster.reader import ClusterReader  # noqa: PLC0415

    seconds = configuration.lookups.cache_seconds
    try:
        async with connected(look.kubeconfig) as api:
            behind = Counted(ClusterReader(api, timeout=PATIENCE, time_to_live=seconds))
            report = await _report(look, documents, configuration, behind)
    except NoCluster as error:
        raise OutOfSight(str(error)) from error
    if behind.failure and not behind.is_answered:
        raise OutOfSight(
            f"Nothing could be read in the cluster: {behind.failure}. "
            "Check --kubeconfig, or leave --cluster out."
        )
    return report


async def _report(
    look: Look, documents: list[Document], configuration: Configuration, behind: Reader
) -> Report:
    known, gaps = Known(documents, look.namespace, behind), Gaps()
    judge = Judge(known, configuration.policy, gaps, look.namespace)
    judgements = [await judge.judge(document) for document in documents if is_parent(document)]
    passed = [
        document
        for document in documents
        if not is_parent(document) and not any(document is used for used in known.used)
    ]
    return Report(
        judgements=judgements,
        assumed={described(key): why for key, why in known.assumed.items()},
        passed_over=tuple(f"{document.kind} {document.name}" for document in passed),
        unread=tuple(gaps.notes.values()),
    )
