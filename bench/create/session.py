"""A run: two namespaces, controllers at rest, and one cell after another."""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import httpx

from bench import meter, webhooks
from bench.create import objects
from bench.create.load import Answer, Clients, Operation, Place
from bench.create.objects import PARENT, Kind
from bench.create.plan import Arm, Cell, Plan
from bench.create.quiet import controllers_at_rest
from bench.create.record import Conditions, Measurement, Record, Reviews, Share, figures
from bench.environment import Observed
from bench.errors import Unmeasured
from bench.patience import await_true
from bench.webhooks import OURS, Seen
from localcluster import webhook
from localcluster.cluster import Cluster
from localcluster.connection import arguments
from localcluster.demo import trace
from localcluster.manifests import WEBHOOK_KINDS, Object
from webhook.rules.names import STEP_QUEUE

Say = Callable[[str], None]

NAMESPACES: Final = {Arm.WITH: "create-with", Arm.WITHOUT: "create-without"}
WARM_UP_CLIENTS: Final = 10
WARM_UP_SECONDS: Final = 1.0
OURSELVES: Final = "the clients"


def run(cluster: Cluster, plan: Plan, say: Say) -> Record:
    """Measure on a control plane with our server that nobody else uses."""
    observed = Observed()
    prepare(cluster)
    places = {side: _place(cluster, name) for side, name in NAMESPACES.items()}
    clients = Clients(cluster.kubeconfig(), places)
    with controllers_at_rest(cluster), httpx.Client(**arguments(cluster.kubeconfig())) as http:
        bench = Bench(clients, http, _pids(cluster))
        for kind in Kind:
            bench.warm_up(kind)
        say(f"warmed up; about {plan.seconds / 60:.1f} minutes of load to go")
        before = bench.cpu()
        measurements = list(bench.measured(plan, say))
        after = bench.cpu()
    shares = [Share(name, round(after[name] - before[name], 1)) for name in before]
    conditions = Conditions(observed.until_now(), plan.repeats, plan.seconds, shares)
    return Record(conditions, measurements)


@dataclass(frozen=True)
class Bench:
    """Clients, and a connection that asks the API server what it counted meanwhile."""

    clients: Clients
    http: httpx.Client
    pids: dict[str, int]

    def warm_up(self, kind: Kind) -> None:
        """A short load of this kind in both places."""
        cell = Cell(kind, WARM_UP_CLIENTS, WARM_UP_SECONDS)
        self.clients.send(cell, "warm-up")
        self.clients.delete(cell)

    def measured(self, plan: Plan, say: Say) -> Iterator[Measurement]:
        """Every repeat of every cell, creates and updates apart."""
        for repeat, cell in plan.in_order():
            load, before = os.getloadavg()[0], self._seen()
            answers = self.clients.send(cell, f"repeat-{repeat}")
            after = self._seen()
            self.clients.delete(cell)
            for operation in Operation:
                item = measurement(cell, repeat, operation, answers, (before, after), load)
                say(f"{repeat + 1} of {plan.repeats}, {cell.title}: {sentence(item)}")
                yield item

    def cpu(self) -> dict[str, float]:
        """CPU seconds of each process until now, the clients' among them."""
        taken = {name: meter.cpu_seconds(pid) for name, pid in self.pids.items()}
        return taken | {OURSELVES: sum(os.times()[:2])}

    def _seen(self) -> Seen:
        answer = self.http.get("/metrics")
        answer.raise_for_status()
        return webhooks.read(answer.text)


def measurement(
    cell: Cell,
    repeat: int,
    operation: Operation,
    answers: Sequence[Answer],
    seen: tuple[Seen, Seen],
    load: float,
) -> Measurement:
    """One operation of what was answered; raises Unmeasured where an arm has no answer."""
    of_it = [item for item in answers if item.operation is operation]
    arms = {side: figures(item for item in of_it if item.arm is side) for side in Arm}
    full = {side: found for side, found in arms.items() if found}
    problems = [item.problem for item in of_it if item.problem]
    if len(full) < len(Arm):
        raise Unmeasured(
            f"{cell.title}, {operation}: no answer in one of the namespaces: {problems[:1]}"
        )
    calls = webhooks.since(*seen, OURS, operation)
    return Measurement(
        kind=cell.kind,
        clients=cell.clients,
        pace=cell.pace,
        operation=operation,
        repeat=repeat,
        arms=full,
        reviews=Reviews(calls.count, round(calls.seconds, 4)),
        per_second=round(len(of_it) / max(item.ended for item in of_it), 1),
        failed=len(problems),
        first_problem=next(iter(problems), None),
        load=round(load, 2),
    )


def sentence(item: Measurement) -> str:
    """What is said of it while it runs."""
    ours, theirs = (item.arms[side] for side in Arm)
    failed = f", {item.failed} failed: {item.first_problem}" if item.failed else ""
    return (
        f"{item.operation} {ours.p50:.1f} with, {theirs.p50:.1f} ms without (p50), "
        f"{ours.p99:.0f} and {theirs.p99:.0f} (p99), {item.per_second:.0f}/s{failed}"
    )


def prepare(cluster: Cluster) -> None:
    """Both namespaces, and our registration about one of them only; returns when that is so."""
    cluster.apply([trace.flavor()])
    leave_out(cluster, NAMESPACES[Arm.WITHOUT])
    for name in NAMESPACES.values():
        cluster.apply(objects.place(name))
    await_true(lambda: _is_stepped(cluster, Arm.WITH), "our registration is called for")
    await_true(lambda: not _is_stepped(cluster, Arm.WITHOUT), "our registration leaves out")


def leave_out(cluster: Cluster, namespace: str) -> None:
    """Let no webhook of ours be called for the namespace."""
    for kind in WEBHOOK_KINDS:
        registration: Object = cluster.get(kind.lower(), webhook.REGISTRATION)
        for item in registration["webhooks"]:
            for wanted in item["namespaceSelector"]["matchExpressions"]:
                wanted["values"].append(namespace)
        cluster.kubectl("replace", "-f", "-", stdin=json.dumps(registration))


def _is_stepped(cluster: Cluster, side: Arm) -> bool:
    probe = objects.sample(Kind.TRAINJOB, NAMESPACES[side], "probe", "")
    said = cluster.kubectl(
        "create", "--dry-run=server", "-o", "json", "-f", "-", stdin=json.dumps(probe)
    )
    return STEP_QUEUE in json.loads(said)["metadata"]["labels"]


def _place(cluster: Cluster, namespace: str) -> Place:
    parent = cluster.get("jobset", PARENT, namespace)
    return Place(namespace, parent["metadata"]["uid"])


def _pids(cluster: Cluster) -> dict[str, int]:
    return {status.name: status.pid for status in cluster.status()}
