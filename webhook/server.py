"""The whole program on one page: settings in, two listeners, a drain on SIGTERM."""

import asyncio
import gc
from collections.abc import Sequence
from pathlib import Path
from socket import gethostname

import structlog

from webhook.certificates import mounted, place, self_managed
from webhook.cluster.certificate_objects import CertificateObjects
from webhook.cluster.companion import accompany
from webhook.cluster.connection import connected
from webhook.cluster.reader import ClusterReader
from webhook.http.admission import Admission
from webhook.http.app import admission_app, operations_app
from webhook.http.drain import Signals, drain
from webhook.http.intake import Intake
from webhook.http.listener import Listener
from webhook.http.tls import LiveTls
from webhook.rules import kueue
from webhook.rules.facts import Reader
from webhook.rules.policy import Policy
from webhook.settings import Configuration
from webhook.telemetry import Telemetry
from webhook.tracing import traced


async def serve(configuration: Configuration, kubeconfig: Path | None) -> None:
    """Serves until SIGTERM or SIGINT. Raises NoCluster, NoFiles and OSError."""
    settings, telemetry = configuration.server, Telemetry()
    tls = LiveTls(settings.client_authority_file)
    log, section = structlog.get_logger("kueue_steps"), configuration.certificates
    files = mounted(section, tls, telemetry)
    async with connected(kubeconfig) as api:
        reader = ClusterReader(
            api,
            timeout=configuration.lookups.timeout_seconds,
            time_to_live=configuration.lookups.cache_seconds,
        )
        objects = CertificateObjects(api, place(section))
        certificates = files or self_managed(section, objects, tls, telemetry)
        admission = Admission(reader, configuration.policy, telemetry)
        intake = Intake(settings.limits)
        telemetry.watch_in_flight(lambda: intake.in_flight)
        reviews = Listener(
            traced(admission_app(admission.mutate, admission.validate, telemetry, intake)),
            settings.host,
            settings.port,
            tls=tls.context,
            patience=settings.patience_seconds,
        )
        signals = Signals()

        def unready() -> Sequence[str]:
            states = ((signals.first.is_set(), "draining"), (not reviews.started, "starting"))
            own = [reason for applies, reason in states if applies]
            return [*own, *certificates.problems()]

        operations = Listener(
            operations_app(unready, telemetry.metrics),
            settings.host,
            settings.operations_port,
        )
        await _report_kueue(reader, configuration.policy)
        gc.collect()
        gc.freeze()  # What is there from here on stays: no collection has to walk over it.
        signals.handle()
        async with asyncio.TaskGroup() as tasks:
            served = tasks.create_task(reviews.run_until_stopped())
            tasks.create_task(operations.run_until_stopped())
            companion = tasks.create_task(accompany(api, telemetry, gethostname()))
            keeper = tasks.create_task(certificates.run())
            log.info("serving", port=reviews.port, operations_port=operations.port)
            await signals.first.wait()
            log.info("draining", connections=reviews.open_connections)
            cut = await drain(reviews, signals, settings.drain.times)
            await served
            log.info("drained", connections_cut=cut)
            # Until here a pause gives its quota back, a certificate is renewed, a probe answered.
            companion.cancel()
            keeper.cancel()
            operations.stop()


async def _report_kueue(reader: Reader, policy: Policy) -> None:
    """Says in the log how Kueue is set up, and if stepping can't work with it."""
    key = kueue.configuration_key(policy)
    settings = kueue.settings("default", {key: await reader.read(key)}, policy)
    say = structlog.get_logger("kueue_steps")
    tell = say.info if settings.admits_steps else say.warning
    tell(
        "kueue",
        frameworks=sorted(settings.frameworks),
        manages_without_queue_name=settings.manages_without_queue_name,
        stepping_works=settings.admits_steps,
    )
