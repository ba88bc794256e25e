"""Step or whole for every runtime that Trainer ships, as installed."""

import msgspec

from localcluster.cluster import Cluster
from tests.stack.objects import QUEUE
from webhook.rules import stepping
from webhook.rules.names import TRAINJOB_FRAMEWORK
from webhook.rules.objects import Metadata, Runtime
from webhook.rules.policy import Kueue, Policy
from webhook.rules.reasons import Reason

EXPECTED = {
    "deepspeed-distributed": Reason.WHOLE_READY_DEPENDENCY,
    "jax-distributed": Reason.WHOLE_SINGLE_STEP,
    "mlx-distributed": Reason.WHOLE_READY_DEPENDENCY,
    "torch-distributed": Reason.WHOLE_SINGLE_STEP,
    "torchtune-llama3.2-1b": Reason.STEPPED,
    "torchtune-llama3.2-3b": Reason.STEPPED,
    "torchtune-qwen2.5-1.5b": Reason.STEPPED,
    "xgboost-distributed": Reason.WHOLE_SINGLE_STEP,
}


def test_every_shipped_runtime_is_decided_as_it_should_be(cluster: Cluster) -> None:
    """Fine-tuning with downloads is stepped, MPI is left whole, single steps stay as they are."""
    metadata = Metadata(labels={QUEUE: "gpu"})
    decided = {}
    for item in cluster.get("clustertrainingruntimes")["items"]:
        runtime = msgspec.convert(item, Runtime)
        parent = stepping.Parent(
            metadata,
            TRAINJOB_FRAMEWORK,
            runtime.spec.template.spec or None,
            kueue=Kueue(),
            multikueue=False,
        )
        decided[item["metadata"]["name"]] = stepping.choose(parent, Policy()).reason
    assert decided == EXPECTED
