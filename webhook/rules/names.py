"""Every label, annotation, group and user name that the rules know, in one place.

The kueue-steps.io names are public contract: changing one is a breaking change.
"""

from typing import Final

# Ours.
OURS: Final = "kueue-steps.io/"
STEP_QUEUE: Final = "kueue-steps.io/queue-name"
MODE: Final = "kueue-steps.io/mode"
STEP_QUEUES: Final = "kueue-steps.io/step-queues"
SUBMITTED_SUSPENDED: Final = "kueue-steps.io/submitted-suspended"
PAUSED: Final = "kueue-steps.io/paused"

# Kueue's (pkg/controller/constants/constants.go, apis/kueue/v1beta2/topology_types.go in v0.19.2).
QUEUE: Final = "kueue.x-k8s.io/queue-name"
PRIORITY_CLASS: Final = "kueue.x-k8s.io/priority-class"
MAX_EXEC_TIME: Final = "kueue.x-k8s.io/max-exec-time-seconds"
PREBUILT_WORKLOAD: Final = "kueue.x-k8s.io/prebuilt-workload-name"
JOB_UID: Final = "kueue.x-k8s.io/job-uid"
PATCH_MANAGER: Final = "kueue.x-k8s.io/manager"
"""Of the entry that Kueue's webhook puts into each TrainJob's spec.runtimePatches."""
MULTIKUEUE: Final = "kueue.x-k8s.io/multikueue"
PODSET_GROUP: Final = "kueue.x-k8s.io/podset-group-name"
DEFAULT_QUEUE: Final = "default"

# JobSet's (api/jobset/v1alpha2/jobset_types.go in v0.12.0).
JOBSET_NAME: Final = "jobset.sigs.k8s.io/jobset-name"
REPLICATED_JOB: Final = "jobset.sigs.k8s.io/replicatedjob-name"

# Trainer's (pkg/constants/constants.go in v2.3.0).
TRAINJOB_STEP: Final = "trainer.kubeflow.org/trainjob-ancestor-step"
INITIALIZERS: Final = frozenset({"dataset-initializer", "model-initializer"})

TRAINER_GROUP: Final = "trainer.kubeflow.org"
TRAINER_VERSION: Final = "v1alpha1"
KUEUE_GROUP: Final = "kueue.x-k8s.io"
KUEUE_VERSION: Final = "v1beta2"
JOBSET_GROUP: Final = "jobset.x-k8s.io"
JOBSET_VERSION: Final = "v1alpha2"
BATCH_GROUP: Final = "batch"

# The label that the API server gives each namespace.
NAMESPACE_NAME: Final = "kubernetes.io/metadata.name"

# What each kind's own controller calls itself in spec.managedBy.
TRAINJOB_CONTROLLER: Final = "trainer.kubeflow.org/trainjob-controller"
JOBSET_CONTROLLER: Final = "jobset.sigs.k8s.io/jobset-controller"

# Names in Kueue's integrations.frameworks.
TRAINJOB_FRAMEWORK: Final = "trainer.kubeflow.org/trainjob"
JOBSET_FRAMEWORK: Final = "jobset.x-k8s.io/jobset"
JOB_FRAMEWORK: Final = "batch/job"
FRAMEWORKS: Final = frozenset(
    {
        TRAINJOB_FRAMEWORK,
        JOBSET_FRAMEWORK,
        JOB_FRAMEWORK,
        "deployment",
        "kubeflow.org/jaxjob",
        "kubeflow.org/mpijob",
        "kubeflow.org/paddlejob",
        "kubeflow.org/pytorchjob",
        "kubeflow.org/tfjob",
        "kubeflow.org/xgboostjob",
        "leaderworkerset.x-k8s.io/leaderworkerset",
        "pod",
        "ray.io/raycluster",
        "ray.io/rayjob",
        "ray.io/rayservice",
        "sparkoperator.k8s.io/sparkapplication",
        "statefulset",
        "workload.codeflare.dev/appwrapper",
    }
)
"""Those of v0.19.2."""

KUEUE_USER: Final = "system:serviceaccount:kueue-system:kueue-controller-manager"
JOBSET_USER: Final = "system:serviceaccount:jobset-system:jobset-controller-manager"
JOBSET_USERS: Final = frozenset(
    {
        JOBSET_USER,
        # Trainer's own installation brings JobSet along in its namespace.
        "system:serviceaccount:kubeflow-system:jobset-controller-manager",
    }
)
