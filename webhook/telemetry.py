"""Logs and metrics: one line and one count for each review.

The vocabulary is that of `rules.reasons`. Metrics carry no namespace, no user and nothing else that
callers choose, so that their number stays small; the log line has it all. Both are public contract:
docs/how-to/observability.md.
"""

import logging
import sys
from collections.abc import Callable
from datetime import datetime
from typing import Any

import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from structlog.typing import EventDict, Processor

from webhook import __version__
from webhook.rules import admit
from webhook.rules.errors import BadReview, Refusal
from webhook.rules.facts import Key
from webhook.rules.objects import Head
from webhook.rules.review import Request
from webhook.rules.verdict import Verdict
from webhook.settings import LogSection

LONGEST_TEXT = 500
"""Characters of one text in a log line; a stranger may post seven MiB of them."""

BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)


class Telemetry:
    """Implements the observers `Observer`, `Misses` and every `Witness`."""

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
        self._losses = Counter(
            "kueue_steps_companion_errors",
            "Watches, writes and whole companions that were lost and begun again.",
            ("lost",),
            registry=self.registry,
        )
        # Registered once something is served: until then it would say 1970.
        self._expiry = Gauge(
            "kueue_steps_certificate_expiry_timestamp_seconds",
            "When the certificate that is served expires, in seconds since 1970.",
            registry=None,
        )
        self._is_served = False
        self._reloads = Counter(
            "kueue_steps_certificate_reloads",
            "Certificates that were taken into use, and those that could not be.",
            ("result",),
            registry=self.registry,
        )
        for result in ("served", "refused"):
            self._reloads.labels(result)
        Gauge(
            "kueue_steps_build_info", "The version that runs.", ("version",), registry=self.registry
        ).labels(__version__).set(1)

    def metrics(self) -> bytes:
        """Every metric in Prometheus' text format."""
        return generate_latest(self.registry)

    def reviewed(self, path: str, request: Request, verdict: Verdict, seconds: float) -> None:
        """One review was decided."""
        resource, operation = _resource(request), request.operation.value
        self._requests.labels(resource, operation, verdict.decision, verdict.reason.value).inc()
        self._duration.labels(resource, operation).observe(seconds)
        self._log.info(
            "review",
            path=path,
            resource=request.resource.resource,
            operation=operation,
            namespace=request.namespace,
            **_name(request),
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

    def overloaded(self, path: str, error: Exception) -> None:
        """There was no room for a review: 503, and the API server asks again."""
        self._requests.labels("unknown", "unknown", "refused", "HTTP503").inc()
        self._log.warning("overloaded", path=path, problem=str(error))

    def watch_in_flight(self, count: Callable[[], float]) -> None:
        """Reviews in flight, as `count` tells it whenever the metrics are read."""
        Gauge(
            "kueue_steps_admission_in_flight",
            "Reviews that are being read, decided or answered.",
            registry=self.registry,
        ).set_function(count)

    def unreadable(self, key: Key, why: str) -> None:
        """A look-up failed, and a rule took the safe way."""
        self._misses.labels(key.plural).inc()
        self._log.warning(
            "look-up failed", plural=key.plural, namespace=key.namespace, name=key.name, why=why
        )

    def workload_switched(self, namespace: str, name: str, action: str) -> None:
        """The companion made a Workload inactive or active."""
        self._log.info("workload switched", namespace=namespace, name=name, action=action)

    def event_recorded(self, namespace: str, name: str, reason: str, *, new: bool) -> None:
        """An Event is stored, now or since before."""
        self._log.debug("event", namespace=namespace, name=name, reason=reason, new=new)

    def companion_lost(self, what: str, why: str) -> None:
        """The companion lost a watch or a write; all but Events it tries again for ever."""
        self._losses.labels(what).inc()
        self._log.warning("companion", lost=what, why=why)

    def certificate_stepped(self, step: str) -> None:
        """This replica changed the Secret: minted, authority renewed, leaf renewed and so on."""
        self._log.info("certificate", step=step)

    def certificate_served(self, expires: datetime, *, switched: bool) -> None:
        """Handshakes get another certificate from now on."""
        if not self._is_served:
            self.registry.register(self._expiry)
            self._is_served = True
        self._expiry.set(expires.timestamp())
        self._reloads.labels("served").inc()
        step = "switched to the new authority" if switched else "reloaded"
        self._log.info("certificate", step=step, expires=expires.isoformat())

    def certificate_refused(self, why: str) -> None:
        """A certificate can't be served; the one before goes on."""
        self._reloads.labels("refused").inc()
        self._log.warning("certificate", step="refused", why=why)

    def bundle_published(self, registration: str) -> None:
        """The caBundle of a registration was put right."""
        self._log.info("certificate", step="bundle published", registration=registration)

    def registration_missing(self, registration: str) -> None:
        """A registration does not exist, so that no review of its half can come."""
        self._log.warning("certificate", step="registration missing", registration=registration)

    def certificates_lost(self, why: str) -> None:
        """The API server can't be asked for certificates; what is served goes on being served."""
        self._log.warning("certificate", step="lost", why=why)


def _resource(request: Request) -> str:
    """The resource as a metric's label: one of ours, or `other`."""
    plural = request.resource.resource
    return plural if (request.resource.group, plural) in admit.KINDS else "other"


def _name(request: Request) -> dict[str, str]:
    """What the object is called; while it has no name, what its name will begin with."""
    if request.name:
        return {"name": request.name}
    try:
        prefix = request.new(Head).metadata.generate_name
    except Refusal:
        prefix = ""
    return {"name": "", "generate_name": prefix}


def _extras(request: Request, verdict: Verdict) -> dict[str, Any]:
    extras: dict[str, Any] = {}
    if request.dry_run:
        extras["dry_run"] = True
    if verdict.warnings:
        extras["warnings"] = verdict.warnings
    if verdict.denial:
        extras["denial"] = str(verdict.denial)
    return extras


def _plain(_logger: Any, _method: str, event: EventDict) -> EventDict:
    """Every text on one short line: what callers name can't pass for a line of its own."""
    return {key: _one_line(value) for key, value in event.items()}


def _one_line(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_one_line(item) for item in value]
    if not isinstance(value, str) or (len(value) <= LONGEST_TEXT and value.isprintable()):
        return value
    text = "".join(
        character if character.isprintable() else ascii(character)[1:-1]
        for character in value[:LONGEST_TEXT]
    )
    return text if len(value) <= LONGEST_TEXT else f"{text}…"


def configure_logs(section: LogSection) -> None:
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
