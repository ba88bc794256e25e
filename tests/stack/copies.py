"""Copies of the installation that no server runs for, each in the namespace of one team.

What is broken in one stays so while it is looked at, since nobody mends it, and disturbs no other
test.
"""

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

from localcluster import webhook
from localcluster.layout import load_layout
from localcluster.manifests import WEBHOOK_KINDS, trusting
from localcluster.webhook import ACCOUNT, NAMESPACE, Installation
from tests.stack.diagnosis import Diagnosis, configuration, examine
from tests.stack.objects import Object, named
from tests.stack.team import Team, eventually
from webhook.pki.mint import Pair, mint_authority, mint_leaf

NOWHERE: Final = 1
"""A port on which nobody listens."""

MUTATING, VALIDATING = sorted(WEBHOOK_KINDS)


@dataclass
class Copy:
    """Its objects as they will be applied, and its configuration beside the names."""

    team: Team
    installation: Installation
    folder: Path
    objects: list[Object]
    settings: dict[str, Any] = field(default_factory=dict)

    def one(self, kind: str) -> Any:
        """The object of this kind."""
        (found,) = [item for item in self.objects if item["kind"] == kind]
        return found

    def entry(self, number: int = 0) -> Any:
        """A webhook of the mutating registration."""
        return self.one(MUTATING)["webhooks"][number]

    def drop(self, *kinds: str) -> None:
        """Leave objects out."""
        self.objects = [item for item in self.objects if item["kind"] not in kinds]

    def trust(self, authority: Pair) -> None:
        """Put this authority into the caBundle of every entry."""
        self.objects = trusting(self.objects, authority.certificate)

    def serve(self, pair: Pair) -> None:
        """Put this certificate into the Secret."""
        self.drop("Secret")
        parts = {"tls.crt": pair.certificate, "tls.key": pair.key}
        data = {key: base64.b64encode(value).decode() for key, value in parts.items()}
        head = named("Secret", "v1", self.installation.secret, NAMESPACE)
        self.objects.append(head | {"type": "kubernetes.io/tls", "data": data})

    def leaf(self, authority: Pair, **dates: Any) -> Pair:
        """A certificate for the Service."""
        name = f"{self.installation.service}.{NAMESPACE}.svc"
        return mint_leaf(authority, dns_names=[name], **{"now": _now(), **dates})

    def examine(self) -> Diagnosis:
        """Apply it, and see what doctor finds with its configuration."""
        cluster = self.team.cluster
        cluster.apply(self.objects)
        for item in self.objects:
            if item["kind"] in {"Role", "ClusterRole"}:
                eventually(partial(self._is_granted, item), f"{item['kind']} is in effect")
        names = {
            "service": self.installation.service,
            "secret": self.installation.secret,
            "mutatingConfiguration": self.installation.registration,
            "validatingConfiguration": self.installation.registration,
        }
        path = configuration(self.folder, certificates=names, **self.settings)
        return examine(cluster, "-n", self.team.namespace, "--config", path)

    def _is_granted(self, role: Object) -> bool:
        """Does the API server know of the role and its binding?"""
        rule = role["rules"][0]
        attributes = {
            "verb": rule["verbs"][0],
            "group": rule["apiGroups"][0],
            "resource": rule["resources"][0],
            "name": rule["resourceNames"][0],
            "namespace": role["metadata"].get("namespace", ""),
        }
        user = f"system:serviceaccount:{NAMESPACE}:{ACCOUNT}"
        review = named("SubjectAccessReview", "authorization.k8s.io/v1", "", None)
        review |= {"metadata": {}, "spec": {"user": user, "resourceAttributes": attributes}}
        answer = self.team.cluster.kubectl(
            "create", "-o", "json", "-f", "-", stdin=json.dumps(review)
        )
        return bool(json.loads(answer)["status"]["allowed"])


@contextmanager
def copied(team: Team, folder: Path, registration: str = "a-a-{}") -> Iterator[Copy]:
    """A copy in good order; what was applied of it is deleted in the end."""
    name = team.namespace
    beside = Installation.beside(name, name)
    installation = replace(beside, registration=registration.format(name))
    objects = webhook.manifests(load_layout(team.cluster.state_dir), NOWHERE, installation)
    copy, authority = Copy(team, installation, folder, objects), mint_authority("copy", now=_now())
    copy.trust(authority)
    copy.serve(copy.leaf(authority))
    try:
        yield copy
    finally:
        webhook.uninstall(team.cluster, installation)


def _now() -> datetime:
    return datetime.now(UTC)
