"""What is told of each review: one line and one count.

The vocabulary is that of `rules.reasons`. Metrics carry no namespace, no user and nothing else that
callers choose; the log line has it all. Both are public contract: docs/how-to/observability.md.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import structlog
from prometheus_client import CollectorRegistry

from webhook.metrics import Metrics
from webhook.rules import admit
from webhook.rules.errors import BadReview, Refusal
from webhook.rules.facts import Key
from webhook.rules.objects import Head
from webhook.rules.review import Request
from webhook.rules.verdict import Verdict


class Telemetry:
    """Implements the observers `Observer`, `Misses` and every `Witness`."""

    def __init__(self) -> None:
        self._log = structlog.get_logger("kueue_steps")
        self._metrics = Metrics()

    @property
    def registry(self) -> CollectorRegistry:
        """Where the metrics are registered."""
        return self._metrics.registry

    def metrics(self) -> bytes:
        """Every metric in Prometheus' text format."""
        return self._metrics.text()

    def reviewed(self, path: str, request: Request, verdict: Verdict, seconds: float) -> None:
        """One review was decided."""
        resource, operation = _resource(request), request.operation.value
        decision = verdict.decision
        self._metrics.reviews(resource, operation, decision, verdict.reason.value).inc()
        self._metrics.durations(resource, operation).observe(seconds)
        self._log.info(
            "review",
            path=path,
            resource=request.resource.resource,
            operation=operation,
            namespace=request.namespace,
            **_name(request),
            user=request.user_info.username,
            decision=decision,
            reason=verdict.reason.value,
            seconds=round(seconds, 6),
            uid=request.uid,
            **_extras(request, verdict),
        )

    def refused(self, path: str, error: BadReview) -> None:
        """A call was malformed: our registration is wrong, or a stranger calls."""
        self._metrics.reviews("unknown", "unknown", "refused", f"HTTP{error.code}").inc()
        self._log.warning("malformed review", path=path, code=error.code, problem=str(error))

    def failed(self, path: str, error: Exception) -> None:
        """A bug in kueue-steps."""
        self._metrics.reviews("unknown", "unknown", "failed", "HTTP500").inc()
        self._log.error("review failed", path=path, exc_info=error)

    def overloaded(self, path: str, error: Exception) -> None:
        """There was no room for a review: 503, and the API server asks again."""
        self._metrics.reviews("unknown", "unknown", "refused", "HTTP503").inc()
        self._log.warning("overloaded", path=path, problem=str(error))

    def watch_in_flight(self, count: Callable[[], float]) -> None:
        """Reviews in flight, as `count` tells it whenever the metrics are read."""
        self._metrics.watch_in_flight(count)

    def unreadable(self, key: Key, why: str) -> None:
        """A look-up failed, and a rule took the safe way."""
        self._metrics.misses.labels(key.plural).inc()
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
        self._metrics.losses.labels(what).inc()
        self._log.warning("companion", lost=what, why=why)

    def certificate_stepped(self, step: str) -> None:
        """This replica changed the Secret: minted, authority renewed, leaf renewed and so on."""
        self._log.info("certificate", step=step)

    def certificate_served(self, expires: datetime, *, switched: bool) -> None:
        """Handshakes get another certificate from now on."""
        self._metrics.expires(expires.timestamp())
        self._metrics.reloads.labels("served").inc()
        step = "switched to the new authority" if switched else "reloaded"
        self._log.info("certificate", step=step, expires=expires.isoformat())

    def certificate_refused(self, why: str) -> None:
        """A certificate can't be served; the one before goes on."""
        self._metrics.reloads.labels("refused").inc()
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
