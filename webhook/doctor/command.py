"""The command `doctor`: find the configuration, read the cluster once, examine, report."""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from webhook.cluster.connection import connected
from webhook.cluster.survey import survey
from webhook.doctor import questions
from webhook.doctor.case import Case
from webhook.doctor.checks import examine
from webhook.doctor.findings import Finding
from webhook.doctor.installed import given, installed
from webhook.doctor.installed import needs as needs_of_installed
from webhook.doctor.place import place_of
from webhook.doctor.report import rendered

TIMEOUT_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What to print, and the exit code: 1 if there is a warning or an error."""

    text: str
    code: int


def doctor(*, kubeconfig: Path | None, config: Path | None, namespace: str, form: str) -> Outcome:
    """Examine the cluster. Raises NoCluster."""
    findings = asyncio.run(_visit(kubeconfig, config, namespace))
    return Outcome(rendered(findings, form), int(any(one.is_problem for one in findings)))


async def _visit(kubeconfig: Path | None, config: Path | None, namespace: str) -> list[Finding]:
    async with connected(kubeconfig) as api:
        if config is None:
            known = await survey(api, needs_of_installed, seconds=TIMEOUT_SECONDS)
            configuration, source = installed(known)
        else:
            configuration, source = given(config)
        place, policy = place_of(configuration.certificates), configuration.policy
        answers = await survey(
            api,
            lambda known: questions.needs(known, place, policy, namespace),
            seconds=TIMEOUT_SECONDS,
        )
    return examine(Case(answers, policy, place, source, datetime.now(UTC), namespace))
