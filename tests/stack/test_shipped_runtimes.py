"""Step or whole for every runtime that Trainer ships, read from its own files."""

from collections.abc import Iterator

import msgspec
import yaml

from localcluster.cluster import Cluster
from localcluster.layout import load_layout
from localcluster.modules import TRAINER
from tests.stack.objects import QUEUE, Object
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
    "torch-distributed-with-cache": Reason.STEPPED,
    "torchtune-llama3.2-1b": Reason.STEPPED,
    "torchtune-llama3.2-3b": Reason.STEPPED,
    "torchtune-qwen2.5-1.5b": Reason.STEPPED,
    "xgboost-distributed": Reason.WHOLE_SINGLE_STEP,
}
NOT_INSTALLED = {"torch-distributed-with-cache"}
"""Its installation is apart from the others' (manifests/overlays/data-cache)."""


def _decided(runtime: Object) -> Reason:
    parent = stepping.Parent(
        Metadata(labels={QUEUE: "gpu"}),
        TRAINJOB_FRAMEWORK,
        msgspec.convert(runtime, Runtime).spec.template.spec or None,
        kueue=Kueue(),
        multikueue=False,
    )
    return stepping.choose(parent, Policy()).reason


def _shipped(cluster: Cluster) -> Iterator[Object]:
    folder = load_layout(cluster.state_dir).modules[TRAINER] / "manifests/base/runtimes"
    for file in folder.rglob("*.yaml"):
        for item in yaml.safe_load_all(file.read_text()):
            if item and item["kind"] == "ClusterTrainingRuntime":
                yield item


def test_every_shipped_runtime_is_decided_as_it_should_be(cluster: Cluster) -> None:
    """Fine-tuning with downloads is stepped, MPI is left whole, single steps stay as they are."""
    decided = {item["metadata"]["name"]: _decided(item) for item in _shipped(cluster)}
    assert decided == EXPECTED


def test_an_installed_runtime_is_decided_like_its_file(cluster: Cluster) -> None:
    """What the API server and Trainer's webhooks fill in changes nothing."""
    installed = cluster.get("clustertrainingruntimes")["items"]
    decided = {item["metadata"]["name"]: _decided(item) for item in installed}
    assert decided == {name: why for name, why in EXPECTED.items() if name not in NOT_INSTALLED}
