"""Every metric of a process, in a registry of its own.

Names and labels are public contract: docs/reference/metrics.md. Nothing that callers choose is a
label, so that the number of series stays small.
"""

from collections.abc import Callable
from functools import cache

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from webhook import __version__

BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)


class Metrics:
    """What is counted, timed and told. `reviews` and `durations` are looked up by label values."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        reviews = self._counter(
            "admission_requests",
            "Reviews answered, by what was decided and why.",
            ("resource", "operation", "decision", "reason"),
        )
        durations = Histogram(
            "kueue_steps_admission_duration_seconds",
            "Time from the first byte of a review to its answer.",
            ("resource", "operation"),
            buckets=BUCKETS,
            registry=self.registry,
        )
        # The label values are few, and looking up their child takes as long as counting.
        self.reviews, self.durations = cache(reviews.labels), cache(durations.labels)
        self.misses = self._counter(
            "lookup_failures",
            "Reads of the cluster for a review that failed, so that a rule took the safe way.",
            ("resource",),
        )
        self.losses = self._counter(
            "companion_errors",
            "Watches, writes and whole companions that were lost and begun again.",
            ("lost",),
        )
        self._expiry: Gauge | None = None
        self.reloads = self._counter(
            "certificate_reloads",
            "Certificates that were taken into use, and those that could not be.",
            ("result",),
        )
        for result in ("served", "refused"):
            self.reloads.labels(result)
        self._gauge("build_info", "The version that runs.", ("version",)).labels(__version__).set(1)

    def text(self) -> bytes:
        """Every metric in Prometheus' text format."""
        return generate_latest(self.registry)

    def watch_in_flight(self, count: Callable[[], float]) -> None:
        """Reviews in flight, as `count` tells it whenever the metrics are read."""
        told = "Reviews that are being read, decided or answered."
        self._gauge("admission_in_flight", told).set_function(count)

    def expires(self, at: float) -> None:
        """The certificate that is served; until one is, the gauge would say 1970."""
        if self._expiry is None:
            self._expiry = self._gauge(
                "certificate_expiry_timestamp_seconds",
                "When the certificate that is served expires, in seconds since 1970.",
            )
        self._expiry.set(at)

    def _counter(self, name: str, told: str, labels: tuple[str, ...]) -> Counter:
        return Counter(f"kueue_steps_{name}", told, labels, registry=self.registry)

    def _gauge(self, name: str, told: str, labels: tuple[str, ...] = ()) -> Gauge:
        return Gauge(f"kueue_steps_{name}", told, labels, registry=self.registry)
