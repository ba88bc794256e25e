"""Logs as lines: JSON for programs, readable ones on a terminal; of libraries, too."""

import json
import logging
import sys
from collections.abc import Callable
from typing import Any

import msgspec
import structlog
from structlog.typing import EventDict, Processor

from webhook.sections import LogSection

LONGEST_TEXT = 500
"""Characters of one text in a log line; a stranger may post seven MiB of them."""


def _plain(_logger: Any, _method: str, event: EventDict) -> EventDict:
    """Every text on one short line: what callers name can't pass for a line of its own."""
    return {key: _one_line(value) for key, value in event.items()}


def _one_line(value: Any) -> Any:
    if not isinstance(value, str):
        return [_one_line(item) for item in value] if isinstance(value, list | tuple) else value
    if len(value) <= LONGEST_TEXT and value.isprintable():
        return value
    text = "".join(
        character if character.isprintable() else ascii(character)[1:-1]
        for character in value[:LONGEST_TEXT]
    )
    return text if len(value) <= LONGEST_TEXT else f"{text}…"


def _json(event: EventDict, default: Callable[[Any], Any]) -> str:
    """The line, in ASCII: whatever an error quotes, no reader may take a part of it for a line."""
    try:
        line = msgspec.json.encode(event, enc_hook=default).decode()
    except UnicodeEncodeError:  # A file name that is no text.
        line = ""
    # The standard library escapes the rest, and takes ten times as long.
    return line if line and line.isascii() else json.dumps(event, default=default)


def configure(section: LogSection) -> None:
    """JSON lines on standard error, or readable ones on a terminal; libraries' records included."""
    on_terminal = section.format == "console" or (section.format == "auto" and sys.stderr.isatty())
    shared: list[Processor] = [
        _plain,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
        structlog.processors.format_exc_info,
    ]
    renderer: Processor = (
        structlog.dev.ConsoleRenderer()
        if on_terminal
        else structlog.processors.JSONRenderer(serializer=_json)
    )
    level = logging.getLevelNamesMapping()[section.level.upper()]
    structlog.configure(
        processors=[*shared, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        )
    )
    logging.basicConfig(handlers=[handler], level=level, force=True)
