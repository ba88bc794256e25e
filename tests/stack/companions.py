"""The companion as tests of it need it: beside a second one, and without the right to write."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from localcluster import webhook
from localcluster.audit import Event
from localcluster.cluster import Cluster
from localcluster.layout import load_layout, unused
from tests.stack.objects import Object
from tests.stack.team import Team, eventually, ran

USER = f"system:serviceaccount:{webhook.NAMESPACE}:{webhook.ACCOUNT}"


def writes_of_companions(team: Team) -> list[Event]:
    """Their patches of the team's Workloads, refused ones too: our account patches no others."""
    return [item for item in team.writes("workloads", "patch") if item.user == USER]


@contextmanager
def second_replica(team: Team) -> Iterator[None]:
    """Another process like ours, with a companion too; the Service leads to the first as ever."""
    layout = load_layout(team.cluster.state_dir)
    text = (layout.folder(webhook.NAME) / "configuration.yaml").read_text()
    first = webhook.component(layout, text, *unused(2))
    team.cluster.spawn(replace(first, name="webhook-2"))
    try:
        yield
    finally:
        team.cluster.stop("webhook-2")


@contextmanager
def without_rights(cluster: Cluster) -> Iterator[None]:
    """Workloads may be read and not patched during the block."""
    role = cluster.get("clusterrole", webhook.ACCOUNT)
    rules = [
        rule | {"verbs": [verb for verb in rule["verbs"] if verb != "patch"]}
        for rule in role["rules"]
    ]
    try:
        _set_rules(cluster, rules)
        eventually(lambda: not _may_patch(cluster), "the API server knows the new rules")
        yield
    finally:
        _set_rules(cluster, role["rules"])


def _set_rules(cluster: Cluster, rules: list[Object]) -> None:
    patch = json.dumps({"rules": rules})
    cluster.kubectl("patch", "clusterrole", webhook.ACCOUNT, "--type=merge", "-p", patch)


def _may_patch(cluster: Cluster) -> bool:
    what = ("patch", "workloads.kueue.x-k8s.io", "-A", f"--as={USER}")
    return ran(cluster, "auth", "can-i", *what).stdout.strip() != "no"
