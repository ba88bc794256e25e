"""The order in which a control plane comes up, on one page.

Each component waits for what it needs and for nothing else: while one is on its way, the
next step's work is done.
"""

from collections.abc import Callable

from localcluster import identity, jobset, kubernetes, kueue, kwok, trainer, users
from localcluster.fleet import Fleet
from localcluster.kubectl import Kubectl
from localcluster.layout import Layout
from localcluster.manifests import Bundle, bundle
from localcluster.options import Options
from localcluster.processes import Process

Say = Callable[[str], None]


def bring_up(layout: Layout, options: Options, say: Say) -> None:
    """Start everything; returns when a TrainJob could be submitted and would run."""
    fleet, kubectl = Fleet(layout), Kubectl(layout)
    identity.issue(layout)
    fleet.spawn(kubernetes.etcd(layout))
    say("etcd is ready")
    api_server = fleet.begin(kubernetes.api_server(layout))
    upstream = _upstream_manifests(layout, kubectl)
    fleet.wait(api_server)
    say("the API server is ready")
    started = [
        fleet.begin(kubernetes.controller_manager(layout)),
        fleet.begin(kubernetes.scheduler(layout)),
    ]
    _install(layout, kubectl, options, upstream)
    say("the upstream manifests are applied")
    started += _begin_managers(layout, fleet, kubectl)
    kubectl.apply(kwok.nodes(options.nodes), server_side=False)
    fleet.wait(*started)
    say("scheduler, controllers, Kueue, JobSet, Trainer and KWOK are ready")
    _open_for_work(layout, kubectl, options, upstream)
    say("the webhooks answer, the nodes are ready, the training runtimes are installed")


def _upstream_manifests(layout: Layout, kubectl: Kubectl) -> dict[str, Bundle]:
    return {
        group.NAMESPACE: bundle(group.manifests(layout, kubectl))
        for group in (kueue, jobset, trainer)
    }


def _install(
    layout: Layout, kubectl: Kubectl, options: Options, upstream: dict[str, Bundle]
) -> None:
    kubectl.apply([item for group in upstream.values() for item in group.definitions])
    kubectl("wait", "crd", "--all", "--for=condition=Established", "--timeout=60s")
    objects = [item for group in upstream.values() for item in group.objects]
    own = [kueue.configure(layout, options), kwok.storage_class(layout), users.role()]
    # Kueue writes its authority into its own webhooks, so they have to be there first.
    kubectl.apply(objects + own + upstream[kueue.NAMESPACE].webhooks)


def _begin_managers(layout: Layout, fleet: Fleet, kubectl: Kubectl) -> list[Process]:
    for group in (kueue, jobset, trainer):
        account = group.SERVICE_ACCOUNT
        identity.write_kubeconfig(layout, account, kubectl.token(group.NAMESPACE, account))
    jobset.configure(layout)
    trainer.configure(layout)
    kwok.configure(layout)
    components = (
        kueue.certificate_mount(layout),
        kueue.component(layout),
        jobset.component(layout),
        trainer.component(layout),
        kwok.component(layout),
    )
    return [fleet.begin(component) for component in components]


def _open_for_work(
    layout: Layout, kubectl: Kubectl, options: Options, upstream: dict[str, Bundle]
) -> None:
    kubectl.apply(upstream[jobset.NAMESPACE].webhooks + upstream[trainer.NAMESPACE].webhooks)
    kueue.await_webhooks(kubectl)
    kubectl.apply(trainer.runtimes(layout, kubectl))
    if options.nodes:
        kubectl("wait", "node", "--all", "--for=condition=Ready", "--timeout=60s")
