"""Logs and metrics: one line and one count for each review.

The vocabulary is that of `rules.reasons`. Metrics carry no namespace and no user, so that their
number stays small; the log line has both.
"""

import logging
import sys
from typing import Any

import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from webhook import __version__
from webhook.rules.errors import BadReview
from webhook.rules.facts import Key
from webhook.rules.review import Request
from webhook.rules.verdict import Verdict
from webhook.settings import LogSection

BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)


class Telemetry:
    """Implements the observers `Observer`, `Misses` and `Witness`."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._log = structlog.get_logger("kueue_steps")
        self._requests = Counter(
            "kueue_steps_admission_requests",
            "Reviews answered, by what was decided and why.",
            ("resource", "operation", "decision", "reason"),
            registry=self.registry,
        )
        self._duration = Histogram(
            "kueue_steps_admission_duration_seconds",
            "Time from the first byte of a review to its answer.",
            ("resource", "operation"),
            buckets=BUCKETS,
            registry=self.registry,
        )
        self._misses = Counter(
            "kueue_steps_lookup_failures",
            "Reads of the cluster for a review that failed, so that a rule took the safe way.",
            ("resource",),
            registry=self.registry,
        )
        Gauge(
            "kueue_steps_build_info", "The version that runs.", ("version",), registry=self.registry
        ).labels(__version__).set(1)

    def metrics(self) -> bytes:
        """Every metric in Prometheus' text format."""
        return generate_latest(self.registry)

    def reviewed(self, path: str, request: Request, verdict: Verdict, seconds: float) -> None:
        """One review was decided."""
        resource, operation = request.resource.resource, request.operation.value
        self._requests.labels(resource, operation, verdict.decision, verdict.reason.value).inc()
        self._duration.labels(resource, operation).observe(seconds)
        self._log.info(
            "review",
            path=path,
            resource=resource,
            operation=operation,
            namespace=request.namespace,
            name=request.name,
            user=request.user_info.username,
            decision=verdict.decision,
            reason=verdict.reason.value,
            seconds=round(seconds, 6),
            uid=request.uid,
            **_extras(request, verdict),
        )

    def refused(self, path: str, error: BadReview) -> None:
        """A call was malformed: our registration is wrong, or a stranger calls."""
        self._requests.labels("unknown", "unknown", "refused", f"HTTP{error.code}").inc()
        self._log.warning("malformed review", path=path, code=error.code, problem=str(error))

    def failed(self, path: str, error: Exception) -> None:
        """A bug in kueue-steps."""
        self._requests.labels("unknown", "unknown", "failed", "HTTP500").inc()
        self._log.error("review failed", path=path, exc_info=error)

    def unreadable(self, key: Key, why: str) -> None:
        """A look-up failed, and a rule took the safe way."""
        self._misses.labels(key.plural).inc()
        self._log.warning(
            "look-up failed", plural=key.plural, namespace=key.namespace, name=key.name, why=why
        )

    def workload_switched(self, namespace: str, name: str, action: str) -> None:
        """The companion made a Workload inactive or active."""
        self._log.info("workload switched", namespace=namespace, name=name, action=action)

    def companion_lost(self, what: str, why: str) -> None:
        """The companion lost a watch or a write, and tries again."""
        self._log.warning("companion", lost=what, why=why)


def _extras(request: Request, verdict: Verdict) -> dict[str, Any]:
    extras: dict[str, Any] = {}
    if request.dry_run:
        extras["dry_run"] = True
    if verdict.warnings:
        extras["warnings"] = verdict.warnings
    if verdict.denial:
        extras["denial"] = str(verdict.denial)
    return extras


def configure_logs(section: LogSection) -> None:
    """JSON lines on standard error, or readable ones on a terminal; libraries' records included."""
    on_terminal = section.format == "console" or (section.format == "auto" and sys.stderr.isatty())
    shared: list[structlog.typing.Processor] = [
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
        structlog.processors.format_exc_info,
    ]
    renderer: structlog.typing.Processor = (
        structlog.dev.ConsoleRenderer() if on_terminal else structlog.processors.JSONRenderer()
    )
    level = logging.getLevelNamesMapping()[section.level.upper()]
    structlog.configure(
        processors=[*shared, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
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
