"""What the administrator decided and what is known of Kueue's own configuration."""

from dataclasses import dataclass
from enum import StrEnum

from webhook.rules import names
from webhook.rules.selectors import Selector


class Mode(StrEnum):
    """How a parent is admitted: annotation kueue-steps.io/mode and the configuration's default."""

    AUTO = "auto"
    STEP = "step"
    WHOLE = "whole"


@dataclass(frozen=True, slots=True)
class Kueue:
    """The parts of Kueue's configuration that decide whether stepping works.

    The defaults are those of a Kueue installation with all three integrations on.
    """

    frameworks: frozenset[str] = frozenset(
        {names.TRAINJOB_FRAMEWORK, names.JOBSET_FRAMEWORK, names.JOB_FRAMEWORK}
    )
    manages_without_queue_name: bool = False
    manages_namespace: bool = True

    def admits(self, framework: str) -> bool:
        """Whether the integration of this name is on."""
        return framework in self.frameworks

    @property
    def admits_steps(self) -> bool:
        """Whether a child Job can be admitted on its own.

        Since v0.19 Kueue leaves namespaces outside managedJobsNamespaceSelector alone, labelled or
        not. And it takes a parent without queue-name for the manager of its Jobs where it manages
        unlabelled jobs (FindAncestorJobManagedByKueue, pkg/controller/jobframework in v0.19.2).
        """
        parents = self.admits(names.TRAINJOB_FRAMEWORK) or self.admits(names.JOBSET_FRAMEWORK)
        return (
            self.manages_namespace
            and self.admits(names.JOB_FRAMEWORK)
            and not (self.manages_without_queue_name and parents)
        )


@dataclass(frozen=True, slots=True)
class Policy:
    """Everything that a rule may know beside the review and the facts of the cluster.

    `kueue_users` and `jobset_users` are exact user names, never prefixes. `kueue` is what the
    administrator says of Kueue, `managed_namespaces` which namespaces it manages then; without
    `kueue` Kueue's ConfigMap is asked.
    """

    kueue_users: frozenset[str] = frozenset({names.KUEUE_USER})
    jobset_users: frozenset[str] = names.JOBSET_USERS
    default_mode: Mode = Mode.AUTO
    allow_mode_override: bool = True
    kueue: Kueue | None = None
    managed_namespaces: Selector | None = None
    kueue_namespace: str = "kueue-system"
    kueue_config_map: str = "kueue-manager-config"
