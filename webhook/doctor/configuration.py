"""Our own configuration: it has to be one that the server would start with."""

from collections.abc import Iterator

from webhook.doctor.case import CantTell, Case
from webhook.doctor.findings import Note, error, info


def unusable(case: Case) -> Iterator[Note]:
    """A file that the server would refuse, or none at all."""
    source = case.source
    if source.unread:
        raise CantTell(f"{source.name}: {source.unread}")
    if source.is_missing:
        yield info(
            source.name,
            "It was not found, so the defaults were examined.",
            "Give the file that the server runs with: --config FILE.",
        )
    elif source.problem:
        yield error(
            source.name,
            f"{source.problem}; the rest was examined with the defaults.",
            "Mend the named keys; the server does not start with such a file.",
        )
