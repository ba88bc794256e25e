"""The whole program on one page: settings in, two listeners, an end on SIGTERM."""

import asyncio
import signal
from collections.abc import Sequence
from pathlib import Path

import structlog

from webhook.cluster.companion import accompany
from webhook.cluster.connection import connected
from webhook.cluster.reader import ClusterReader
from webhook.http.admission import Admission
from webhook.http.app import admission_app, operations_app
from webhook.http.listener import Listener
from webhook.http.tls import server_context
from webhook.rules import kueue
from webhook.rules.facts import Reader
from webhook.rules.policy import Policy
from webhook.settings import Configuration
from webhook.telemetry import Telemetry


async def serve(configuration: Configuration, kubeconfig: Path | None) -> None:
    """Serves until SIGTERM or SIGINT. Raises NoCluster, BadPair and OSError."""
    settings, telemetry = configuration.server, Telemetry()
    log = structlog.get_logger("kueue_steps")
    tls = server_context(settings.certificate_file, settings.key_file)
    async with connected(kubeconfig) as api:
        reader = ClusterReader(
            api,
            timeout=configuration.lookups.timeout_seconds,
            time_to_live=configuration.lookups.cache_seconds,
        )
        admission = Admission(reader, configuration.policy, telemetry)
        reviews = Listener(
            admission_app(admission.mutate, admission.validate, telemetry),
            settings.host,
            settings.port,
            tls=tls,
        )
        draining = asyncio.Event()

        def unready() -> Sequence[str]:
            states = ((draining.is_set(), "draining"), (not reviews.started, "starting"))
            return [reason for applies, reason in states if applies]

        operations = Listener(
            operations_app(unready, telemetry.metrics),
            settings.host,
            settings.operations_port,
        )
        await _report_kueue(reader, configuration.policy)
        _on_signals(draining)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(reviews.run_until_stopped())
            tasks.create_task(operations.run_until_stopped())
            companion = tasks.create_task(accompany(api, telemetry))
            log.info("serving", port=reviews.port, operations_port=operations.port)
            await draining.wait()
            log.info("draining")
            companion.cancel()
            reviews.stop()
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


def _on_signals(stop: asyncio.Event) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
