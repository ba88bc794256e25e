"""The decision alone: the bytes of a review to the bytes of its answer, without a server.

What the rules look up is read from the API server once, and is at hand then, as it is in the
server's cache.
"""

import json
from collections.abc import Callable
from math import ceil
from time import perf_counter_ns

import msgspec

from bench.latency.errors import WrongAnswer
from bench.latency.reviews import Review
from bench.spread import percentile
from localcluster.cluster import Cluster
from localcluster.errors import KubectlError
from webhook.rules import admit, review
from webhook.rules.facts import Absent, Answer, Facts, Found, Key
from webhook.rules.policy import Policy

NANOSECONDS_PER_MICROSECOND = 1000


class Timing(msgspec.Struct, frozen=True):
    """Microseconds of one decision, and the verdict's reason."""

    fastest: float
    median: float
    p99: float
    reason: str


def timing(recorded: Review, facts: Facts, policy: Policy, rounds: int) -> Timing:
    """Time the decision so many times. Raises WrongAnswer if it is a refusal, or lacks facts."""
    request = review.read(recorded.body)
    if missing := admit.needs(request, facts, policy):
        raise WrongAnswer(f"{recorded.key} is decided by what is not at hand: {missing}")
    verdict = admit.mutate(request, facts, policy)
    if verdict.denial:
        raise WrongAnswer(f"{recorded.key} is denied: {verdict.denial}")
    spent = []
    for _ in range(rounds):
        begun = perf_counter_ns()
        decide(recorded.body, facts, policy)
        spent.append(perf_counter_ns() - begun)
    spent.sort()
    return Timing(
        fastest=_microseconds(spent[0]),
        median=_microseconds(percentile(spent, 0.5)),
        p99=_microseconds(percentile(spent, 0.99)),
        reason=verdict.reason.value,
    )


def decide(body: bytes, facts: Facts, policy: Policy) -> bytes:
    """What lies between a body and its answer, where all that a rule asks for is at hand."""
    request = review.read(body)
    return review.write(request, admit.mutate(request, facts, policy))


def facts_for(body: bytes, read: Callable[[Key], Answer], policy: Policy) -> Facts:
    """Everything that the rules ask for."""
    request = review.read(body)
    facts: dict[Key, Answer] = {}
    while keys := admit.needs(request, facts, policy):
        facts |= {key: read(key) for key in keys}
    return facts


def reader(cluster: Cluster) -> Callable[[Key], Answer]:
    """Reads the control plane as it is."""

    def read(key: Key) -> Answer:
        try:
            return Found(json.loads(cluster.kubectl("get", "--raw", path(key))))
        except KubectlError as error:
            if "NotFound" not in error.stderr:
                raise
            return Absent()

    return read


def path(key: Key) -> str:
    """Where the API server has the object."""
    root = f"/apis/{key.group}/{key.version}" if key.group else f"/api/{key.version}"
    place = f"/namespaces/{key.namespace}" if key.namespace else ""
    return f"{root}{place}/{key.plural}/{key.name}"


def _microseconds(nanoseconds: int) -> float:
    return ceil(nanoseconds / NANOSECONDS_PER_MICROSECOND * 10) / 10
