"""A cluster as plain answers, hands to break it with, and parts to make it of."""

import base64
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml

from webhook.cluster.survey import Question
from webhook.doctor import questions, rights
from webhook.doctor.case import Case, Source
from webhook.doctor.checks import examine
from webhook.doctor.findings import Check, Finding, Severity
from webhook.doctor.place import SHIPPED, Place
from webhook.pki.mint import Pair, mint_authority, mint_leaf
from webhook.rules import names
from webhook.rules.facts import Absent, Answer, Found, Unreadable
from webhook.rules.policy import Policy

Object = dict[str, Any]

BASE = Path(__file__).resolve().parents[2] / "manifests" / "base"
NOW = datetime(2026, 11, 30, tzinfo=UTC)
PLACE = SHIPPED
SOURCE = Source("ConfigMap kueue-steps-system/kueue-steps-config")
POLICY = Policy()
AUTHORITY = mint_authority("test", now=NOW)
STRANGER = mint_authority("stranger", now=NOW)
KUEUES = "kueue-mutating-webhook-configuration"
TEAM = "team-a"


@dataclass
class Patient:
    """Answers by question; a test takes, changes or forbids some of them."""

    content: dict[Question, Object]
    policy: Policy = POLICY
    place: Place = PLACE
    source: Source = SOURCE
    namespace: str = ""
    absent: set[Question] = field(default_factory=set)
    unreadable: set[Question] = field(default_factory=set)

    @property
    def case(self) -> Case:
        """What the checks are given."""
        answers: dict[Question, Answer] = {key: Found(item) for key, item in self.content.items()}
        answers |= {key: Absent() for key in self.absent}
        answers |= {key: Unreadable("forbidden") for key in self.unreadable}
        return Case(answers, self.policy, self.place, self.source, NOW, self.namespace)

    def findings(self) -> list[Finding]:
        """What the doctor says."""
        return examine(self.case)

    def items(self, question: Question) -> list[Any]:
        """The items of a list, to be changed in place."""
        items: list[Any] = self.content[question]["items"]
        return items

    def add(self, question: Question, *items: Object) -> "Patient":
        """Put more items into a list."""
        self.items(question).extend(items)
        return self

    def registration(self, question: Question = questions.MUTATING) -> Object:
        """One of our own configurations."""
        item: Object = next(
            i for i in self.items(question) if i["metadata"]["name"] == PLACE.mutating
        )
        return item

    def entry(self, name: str, question: Question = questions.MUTATING) -> Object:
        """One webhook of ours."""
        found: Object = next(
            i for i in self.registration(question)["webhooks"] if i["name"] == name
        )
        return found

    def configure_kueue(self, **settings: Any) -> None:
        """Kueue's configuration with these settings."""
        integrations = {"frameworks": settings.pop("frameworks", list(FRAMEWORKS))}
        text = yaml.safe_dump({"integrations": integrations, **settings})
        self.content[KUEUE_CONFIGURATION] = {"data": {"controller_manager_config.yaml": text}}

    def serve(self, pair: Pair) -> None:
        """Put another certificate into the Secret."""
        self.content[questions.secret(PLACE)] = secret(pair)

    def trust(self, bundle: str) -> None:
        """Give every entry of ours this caBundle."""
        for question in (questions.MUTATING, questions.VALIDATING):
            for entry in self.registration(question)["webhooks"]:
                entry["clientConfig"]["caBundle"] = bundle

    def narrow(self, namespace: str) -> None:
        """Examine one namespace alone."""
        space = next(
            i for i in self.items(questions.all_namespaces()) if i["metadata"]["name"] == namespace
        )
        self.content[questions.one_namespace(namespace)] = space
        for ask in NARROWED:
            items = [i for i in self.items(ask("")) if i["metadata"]["namespace"] == namespace]
            self.content[ask(namespace)] = {"items": items}
            del self.content[ask("")]
        self.namespace = namespace


Break = Callable[[Patient], Any]
"""What harms a patient."""

Expected = tuple[Check, Severity, str]
"""What the doctor is to find, and words of it."""

FRAMEWORKS = (names.JOB_FRAMEWORK, names.JOBSET_FRAMEWORK, names.TRAINJOB_FRAMEWORK)
KUEUE_CONFIGURATION = questions.config_map(POLICY.kueue_namespace, POLICY.kueue_config_map)
KUEUE_SERVICE = questions.service("kueue-system", "kueue-webhook-service")
KUEUE_DEPLOYMENTS = questions.deployments("kueue-system")
JOBSET_DEPLOYMENTS = questions.deployments("jobset-system")
TRAINJOBS = questions.stepped(questions.TRAINER, "", "trainjobs")
JOBSETS = questions.stepped(questions.JOBSET, "", "jobsets")
NARROWED: tuple[Callable[[str], Question], ...] = (
    questions.local_queues,
    questions.jobs,
    questions.workloads,
    lambda where: questions.stepped(questions.TRAINER, where, "trainjobs"),
    lambda where: questions.stepped(questions.JOBSET, where, "jobsets"),
)


def leaf(authority: Pair = AUTHORITY, name: str = PLACE.dns_name, **dates: Any) -> Pair:
    """A server certificate of this authority."""
    return mint_leaf(authority, dns_names=[name], **{"now": NOW, **dates})


def expired() -> Pair:
    """A certificate that ended an hour ago."""
    return leaf(now=NOW - timedelta(days=2), lifetime=timedelta(days=2, hours=-1))


def renamed(pair: Pair, other: Pair) -> Pair:
    """A certificate with somebody else's key."""
    return replace(pair, key=other.key)


def named(name: str, namespace: str = "", **metadata: Any) -> Object:
    """An object with this metadata and an empty spec."""
    place = {"namespace": namespace} if namespace else {}
    return {"metadata": {"name": name, **place, **metadata}, "spec": {}}


def job(name: str, *, suspend: bool, queue: str | None = "gpu", **metadata: Any) -> Object:
    """A step of the team."""
    labels = {names.STEP_QUEUE: "gpu", **({names.QUEUE: queue} if queue else {})}
    made = named(name, TEAM, uid=f"uid-{name}", labels=labels, **metadata)
    return {**made, "spec": {"suspend": suspend}}


def workload(of: str, *conditions: str, active: bool = True, **metadata: Any) -> Object:
    """The Workload of the step of this name."""
    made = named(f"job-{of}", TEAM, labels={names.JOB_UID: f"uid-{of}"}, **metadata)
    status = {"conditions": [{"type": item, "status": "True"} for item in conditions]}
    return {**made, "spec": {"active": active}, "status": status}


def hook(name: str, group: str, resource: str, **parts: Any) -> Object:
    """One webhook of somebody else."""
    rule = {"apiGroups": [group], "resources": [resource], "operations": ["CREATE", "UPDATE"]}
    service = {"namespace": parts.pop("namespace", "other"), "name": parts.pop("service", "other")}
    client = {"service": {**service, "path": parts.pop("path", "/")}}
    return {"name": name, "clientConfig": client, "rules": [rule], **parts}


def configuration(name: str, *webhooks: Object) -> Object:
    """A webhook configuration."""
    return {"metadata": {"name": name}, "webhooks": list(webhooks)}


def shipped() -> list[Object]:
    """Our registrations as the manifests have them."""
    return list(yaml.safe_load_all((BASE / "webhooks.yaml").read_text()))


def permitted(place: Place) -> dict[Question, Object]:
    """The server may do all that it does."""
    return {
        rights.question(right, place): {"status": {"allowed": True}}
        for right in rights.needed(place, POLICY)
    }


def secret(pair: Pair) -> Object:
    """The content of the Secret with this pair."""
    parts = {"tls.crt": pair.certificate, "tls.key": pair.key}
    return {"data": {key: base64.b64encode(value).decode() for key, value in parts.items()}}
