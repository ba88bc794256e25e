"""What the examination can say: a closed list of checks, and findings of four severities."""

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How bad a finding is, worst first. Warnings and errors make the exit code 1."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"
    OK = "ok"


class Check(StrEnum):
    """The stable names of the checks: public contract."""

    # Our own configuration.
    CONFIGURATION = "Configuration"

    # What the API server and the controllers are.
    KUBERNETES_VERSION = "KubernetesVersion"
    KUEUE_VERSION = "KueueVersion"
    KUEUE_API = "KueueApi"
    JOBSET_API = "JobSetApi"
    TRAINER_API = "TrainerApi"
    HOLD_POLICY = "HoldPolicy"

    # Our registrations.
    REGISTRATION_PRESENT = "RegistrationPresent"
    REGISTRATION_COMPLETE = "RegistrationComplete"
    REGISTRATION_ORDER = "RegistrationOrder"
    REGISTRATION_SCOPE = "RegistrationScope"
    REGISTRATION_TRUST = "RegistrationTrust"
    REGISTRATION_USERS = "RegistrationUsers"

    # The server behind them.
    CERTIFICATE = "Certificate"
    SERVICE_ENDPOINTS = "ServiceEndpoints"
    SERVER_REPLICAS = "ServerReplicas"
    DISRUPTION_BUDGET = "DisruptionBudget"
    SERVER_RIGHTS = "ServerRights"

    # Those around us.
    KUEUE_CONFIGURATION = "KueueConfiguration"
    KUEUE_INTEGRATIONS = "KueueIntegrations"
    KUEUE_NAMESPACES = "KueueNamespaces"
    KUEUE_USER = "KueueUser"
    JOBSET_USER = "JobSetUser"
    LATER_WEBHOOKS = "LaterWebhooks"
    POD_WEBHOOKS = "PodWebhooks"

    # What users meet.
    LOCAL_QUEUES = "LocalQueues"
    MULTIKUEUE_QUEUES = "MultiKueueQueues"
    DEFAULT_QUEUES = "DefaultQueues"
    PRIORITY_CLASSES = "PriorityClasses"
    STARTED_JOBS = "StartedJobs"
    HELD_JOBS = "HeldJobs"
    PAUSES = "Pauses"


@dataclass(frozen=True, slots=True)
class Note:
    """One thing that a check has to say of one object, and what to do about it."""

    severity: Severity
    subject: str
    message: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """A note with the name of the check that made it."""

    check: Check
    note: Note

    @property
    def is_problem(self) -> bool:
        """Whether somebody has to do something."""
        return self.note.severity in {Severity.WARNING, Severity.ERROR}


def error(subject: str, message: str, remedy: str) -> Note:
    """Stepping does not work, or does not hold, until this is mended."""
    return Note(Severity.ERROR, subject, message, remedy)


def warning(subject: str, message: str, remedy: str) -> Note:
    """Works, but not as it should, or could not be told."""
    return Note(Severity.WARNING, subject, message, remedy)


def info(subject: str, message: str, remedy: str = "") -> Note:
    """Worth knowing; nothing is wrong."""
    return Note(Severity.INFO, subject, message, remedy)
