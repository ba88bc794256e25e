"""The whole program on one page: settings in, two listeners, a drain on SIGTERM."""

import asyncio
import gc
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from socket import gethostname
from typing import Any

import structlog

from webhook.certificates import mounted, place, self_managed
from webhook.cluster.certificate_objects import CertificateObjects
from webhook.cluster.certificates import Certificates
from webhook.cluster.companion import accompany
from webhook.cluster.connection import connected
from webhook.cluster.owners import Owners
from webhook.cluster.reader import ClusterReader
from webhook.http.admission import Admission
from webhook.http.app import admission_app, operations_app
from webhook.http.drain import Signals, drain
from webhook.http.intake import Intake
from webhook.http.listener import Listener
from webhook.http.times import Times
from webhook.http.tls import LiveTls
from webhook.pki.mounted import Mounted
from webhook.rules import kueue
from webhook.rules.facts import Reader
from webhook.rules.policy import Policy
from webhook.settings import Configuration
from webhook.telemetry import Telemetry
from webhook.tracing import traced


async def serve(configuration: Configuration, kubeconfig: Path | None) -> None:
    """Serves until SIGTERM or SIGINT. Raises NoCluster, NoFiles and OSError."""
    telemetry, settings, section = Telemetry(), configuration.server, configuration.certificates
    tls = LiveTls(settings.client_authority_file)
    files = mounted(section, tls, telemetry)
    async with connected(kubeconfig) as api:
        objects = CertificateObjects(api, place(section))
        certificates = files or self_managed(section, objects, tls, telemetry)
        owners, signals = Owners(), Signals()
        reader = ClusterReader(
            api,
            timeout=configuration.lookups.timeout_seconds,
            time_to_live=configuration.lookups.cache_seconds,
            owners=owners,
        )
        reviews = _reviews(configuration, reader, tls, telemetry)
        operations = Listener(
            operations_app(partial(_unready, signals, reviews, certificates), telemetry.metrics),
            settings.host,
            settings.operations_port,
        )
        await _report_kueue(reader, configuration.policy)
        gc.collect()
        gc.freeze()  # What is there from here on stays: no collection has to walk over it.
        signals.handle()
        kept = (
            partial(owners.follow, api, telemetry),
            partial(accompany, api, telemetry, gethostname()),
            certificates.run,
        )
        await _run(reviews, operations, kept, signals, settings.drain.times)


async def _run(
    reviews: Listener,
    operations: Listener,
    kept: Iterable[Callable[[], Coroutine[Any, Any, None]]],
    signals: Signals,
    times: Times,
) -> None:
    """Everything at a time, until a signal; then a drain."""
    log = structlog.get_logger("kueue_steps")
    async with asyncio.TaskGroup() as tasks:
        served = tasks.create_task(reviews.run_until_stopped())
        tasks.create_task(operations.run_until_stopped())
        others = [tasks.create_task(one()) for one in kept]
        log.info("serving", port=reviews.port, operations_port=operations.port)
        await signals.first.wait()
        log.info("draining", connections=reviews.open_connections)
        cut = await drain(reviews, signals, times)
        await served
        log.info("drained", connections_cut=cut)
        # Until here a pause gives its quota back, a certificate is renewed, a probe answered.
        for one in others:
            one.cancel()
        operations.stop()


def _reviews(
    configuration: Configuration, reader: Reader, tls: LiveTls, telemetry: Telemetry
) -> Listener:
    """What answers reviews."""
    settings = configuration.server
    admission = Admission(reader, configuration.policy, telemetry)
    intake = Intake(settings.limits)
    telemetry.watch_in_flight(lambda: intake.in_flight)
    return Listener(
        traced(admission_app(admission.mutate, admission.validate, telemetry, intake)),
        settings.host,
        settings.port,
        tls=tls.context,
        patience=settings.patience_seconds,
    )


def _unready(
    signals: Signals, reviews: Listener, certificates: Certificates | Mounted
) -> Sequence[str]:
    """Why no review should be sent here."""
    states = ((signals.first.is_set(), "draining"), (not reviews.started, "starting"))
    own = [reason for applies, reason in states if applies]
    return [*own, *certificates.problems()]


async def _report_kueue(reader: Reader, policy: Policy) -> None:
    """Says in the log how Kueue is set up, and if stepping can't work with it in any namespace."""
    key = kueue.configuration_key(policy)
    found = kueue.settings("", {key: await reader.read(key)}, policy)
    settings = replace(found, manages_namespace=True)
    say = structlog.get_logger("kueue_steps")
    tell = say.info if settings.admits_steps else say.warning
    tell(
        "kueue",
        frameworks=sorted(settings.frameworks),
        manages_without_queue_name=settings.manages_without_queue_name,
        stepping_works=settings.admits_steps,
    )
