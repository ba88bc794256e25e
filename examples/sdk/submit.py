"""Fine-tune in a queue of Kueue with the Kubeflow SDK: `pip install kubeflow`, then run this."""

import argparse

from kubeflow.common.types import KubernetesBackendConfig
from kubeflow.trainer import (
    BuiltinTrainer,
    DataFormat,
    HuggingFaceDatasetInitializer,
    HuggingFaceModelInitializer,
    Initializer,
    TorchTuneConfig,
    TorchTuneInstructDataset,
    TrainerClient,
)
from kubeflow.trainer.options import Annotations, Labels

STEP_QUEUES = "dataset-initializer=cpus,model-initializer=cpus"

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("-n", "--namespace", help="default: the one of the kubeconfig's context")
namespace = parser.parse_args().namespace

client = TrainerClient(KubernetesBackendConfig(namespace=namespace))
name = client.train(
    runtime="torchtune-qwen2.5-1.5b",
    initializer=Initializer(
        dataset=HuggingFaceDatasetInitializer(storage_uri="hf://tatsu-lab/alpaca/data"),
        model=HuggingFaceModelInitializer(storage_uri="hf://Qwen/Qwen2.5-1.5B-Instruct"),
    ),
    trainer=BuiltinTrainer(
        TorchTuneConfig(
            dataset_preprocess_config=TorchTuneInstructDataset(source=DataFormat.PARQUET),
            resources_per_node={"cpu": 8, "memory": "64Gi", "gpu": 2},
        )
    ),
    options=[
        Labels({"kueue.x-k8s.io/queue-name": "gpus"}),
        Annotations({"kueue-steps.io/step-queues": STEP_QUEUES}),
    ],
)
print(f"TrainJob {name} is submitted")

job = client.wait_for_job_status(name, timeout=24 * 60 * 60)
print(f"TrainJob {name} is {job.status}:")
for step in job.steps:
    print(f"  {step.name}: {step.status}")
