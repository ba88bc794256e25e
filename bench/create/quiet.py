"""Controllers that do nothing while only the way through the API server is measured.

Those that serve no webhook are stopped by a signal. Kueue, JobSet and Trainer have to answer
theirs, in both namespaces alike; their writes are kept in a jail of the API server's own flow
control, a priority level of no seats, so that no object is reconciled while it is measured.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Final

from localcluster import jobset, kueue, trainer
from localcluster.cluster import Cluster
from localcluster.manifests import Object

STOPPED: Final = ("kube-controller-manager", "kube-scheduler", "kwok")
JAILED: Final = (kueue, jobset, trainer)
JAIL: Final = "bench-jail"
PRECEDENCE: Final = 50
FLOW_CONTROL: Final = "flowcontrol.apiserver.k8s.io/v1"


@contextmanager
def controllers_at_rest(cluster: Cluster) -> Iterator[None]:
    """Nothing but admission acts on what is created in the block."""
    pids = [status.pid for status in cluster.status() if status.name in STOPPED]
    with ExitStack() as on_exit:
        cluster.apply(jail())
        on_exit.callback(_open, cluster)
        for pid in pids:
            on_exit.callback(_signal, pid, signal.SIGCONT)
            _signal(pid, signal.SIGSTOP)
        yield


def jail() -> list[Object]:
    """A priority level that lets nothing through, for every write of these controllers."""
    level = {
        "apiVersion": FLOW_CONTROL,
        "kind": "PriorityLevelConfiguration",
        "metadata": {"name": JAIL},
        "spec": {
            "type": "Limited",
            "limited": {
                "nominalConcurrencyShares": 0,
                "lendablePercent": 0,
                "borrowingLimitPercent": 0,
                "limitResponse": {
                    "type": "Queue",
                    "queuing": {"queues": 1, "handSize": 1, "queueLengthLimit": 50},
                },
            },
        },
    }
    schema = {
        "apiVersion": FLOW_CONTROL,
        "kind": "FlowSchema",
        "metadata": {"name": JAIL},
        "spec": {
            "matchingPrecedence": PRECEDENCE,
            "priorityLevelConfiguration": {"name": JAIL},
            "rules": [{"subjects": _subjects(), "resourceRules": [_writes()]}],
        },
    }
    return [level, schema]


def _subjects() -> list[Object]:
    return [
        {
            "kind": "ServiceAccount",
            "serviceAccount": {"namespace": item.NAMESPACE, "name": item.SERVICE_ACCOUNT},
        }
        for item in JAILED
    ]


def _writes() -> Object:
    return {
        "verbs": ["create", "update", "patch", "delete", "deletecollection"],
        "apiGroups": ["*"],
        "resources": ["*"],
        "namespaces": ["*"],
        "clusterScope": True,
    }


def _open(cluster: Cluster) -> None:
    for kind in ("flowschema", "prioritylevelconfiguration"):
        cluster.kubectl("delete", kind, JAIL, "--ignore-not-found", "--wait=false")


def _signal(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)
