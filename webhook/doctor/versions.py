"""What the API server serves, and which versions run."""

import re
from collections.abc import Iterator
from typing import Final

from webhook.cluster.survey import VERSION, Question
from webhook.doctor import questions
from webhook.doctor.case import Case
from webhook.doctor.controllers import KUEUE, deployment_of
from webhook.doctor.findings import Note, error, info, warning

# matchConditions of webhooks are stable from here on.
OLDEST_KUBERNETES: Final = (1, 30)
# From here on Kueue leaves namespaces outside managedJobsNamespaceSelector alone.
OLDEST_KUEUE: Final = (0, 19)


def old_kubernetes(case: Case) -> Iterator[Note]:
    """An API server that does not know match conditions as we use them."""
    told = case.need(VERSION)
    version = str(told.get("gitVersion", ""))
    numbers = _numbers(version)
    if numbers is None:
        yield info("API server", f"Can't tell its version from {version!r}.")
    elif numbers < OLDEST_KUBERNETES:
        yield error(
            "API server",
            f"Kubernetes {version} lacks stable matchConditions of webhooks.",
            f"Use Kubernetes {_text(OLDEST_KUBERNETES)} or newer.",
        )


def old_kueue(case: Case) -> Iterator[Note]:
    """A Kueue that is older than what is known to work."""
    found = deployment_of(KUEUE, case)
    if found is None:
        yield info("Kueue", "Can't tell its version: no Deployment of it was found.")
        return
    subject = f"Deployment {found.namespace}/{found.name}"
    version = _numbers(found.version)
    if version is None:
        yield info(subject, f"Can't tell Kueue's version from the image {found.image}.")
    elif version < OLDEST_KUEUE:
        yield warning(
            subject,
            f"Kueue {found.version} is older than what kueue-steps is tested with.",
            f"Use Kueue {_text(OLDEST_KUEUE)} or newer.",
        )


def no_kueue(case: Case) -> Iterator[Note]:
    """Kueue's kinds are not served as we read them."""
    wanted = ("workloads", "localqueues", "clusterqueues", "admissionchecks")
    yield from _unserved(
        case, questions.KUEUE_API, wanted, f"Install Kueue {_text(OLDEST_KUEUE)} or newer."
    )


def no_jobset(case: Case) -> Iterator[Note]:
    """JobSets are not served."""
    yield from _unserved(
        case, questions.JOBSET_API, ("jobsets",), "Install JobSet, which makes the steps."
    )


def no_trainer(case: Case) -> Iterator[Note]:
    """TrainJobs are not served; JobSets alone are fine."""
    served = case.find(questions.TRAINER_API)
    if served is None:
        yield info(
            _version(questions.TRAINER_API), "It is not served: only JobSets can be stepped."
        )


def _unserved(
    case: Case, question: Question, wanted: tuple[str, ...], remedy: str
) -> Iterator[Note]:
    api = case.find(question)
    served = {item["name"] for item in (api or {}).get("resources") or ()}
    lacking = [name for name in wanted if name not in served]
    if lacking:
        yield error(_version(question), f"It does not serve {', '.join(lacking)}.", remedy)


def _version(question: Question) -> str:
    return f"API {question.path.removeprefix('/apis/')}"


def _numbers(version: str) -> tuple[int, int] | None:
    found = re.match(r"v?(\d+)\.(\d+)", version)
    return (int(found[1]), int(found[2])) if found else None


def _text(version: tuple[int, int]) -> str:
    return ".".join(str(number) for number in version)
