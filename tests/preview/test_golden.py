"""What the command prints, compared with what it printed when somebody looked at it."""

import json
from pathlib import Path

import pytest
import yaml

from localcluster.build import module_folders
from localcluster.modules import TRAINER
from tests.preview.printed import GOLDEN, INPUTS, ROOT, compare, promised, run, shown

COMMANDS = {
    "chain": ["-f", "chain.yaml", "-n", "team-a"],
    "chain-in-json": ["-f", "chain.yaml", "-o", "json"],
    "chain-from-json-in-yaml": ["-f", "chain.json", "-o", "yaml"],
    "gang": ["-f", "gang.yaml"],
    "gang-stepped-for-want-of-anything-better": ["-f", "gang.yaml", "-f", "kueue.yaml"],
    "step-queues": ["-f", "step-queues.yaml", "-f", "runtime.yaml"],
    "step-queues-to-other-clusters": [
        *("-f", "step-queues.yaml"),
        *("-f", "runtime.yaml"),
        *("-f", "queues.yaml"),
    ],
    "configuration-whole": ["-f", "chain.yaml", "--config", "whole.yaml"],
    "refused": ["-f", "refused.yaml", "-f", "runtime.yaml", "-n", "team-a"],
    "missing-runtime": ["-f", "missing-runtime.yaml"],
    "default-queue": ["-f", "default-queue.yaml", "-f", "runtime.yaml", "-n", "team-a"],
    "nothing-to-preview": ["-f", "queues.yaml"],
}
TUNING = "torchtune-qwen2.5-1.5b"
EXAMPLES = {
    "gang": ("examples/gang.yaml", "deepspeed-distributed"),
    "pipeline": ("examples/pipeline.yaml", None),
    "sdk": ("tests/preview/inputs/sdk.json", TUNING),
    "step-queues": ("examples/step-queues.yaml", TUNING),
    "torchtune": ("examples/torchtune.yaml", TUNING),
}
"""Each example, and the runtime of Trainer's that it rests on; of the SDK, what it submits."""

RUNTIMES = (
    "deepspeed-distributed",
    "jax-distributed",
    "mlx-distributed",
    "torch-distributed",
    "torch-distributed-with-cache",
    "torchtune-llama3.2-1b",
    "torchtune-llama3.2-3b",
    "torchtune-qwen2.5-1.5b",
    "xgboost-distributed",
)


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with every runtime that Trainer ships in one file, read from its Go module."""
    folder = tmp_path_factory.mktemp("shipped")
    files = sorted((module_folders(say=print)[TRAINER] / "manifests/base/runtimes").rglob("*.yaml"))
    objects = [item for file in files for item in yaml.safe_load_all(file.read_text()) if item]
    runtimes = [item for item in objects if item["kind"] == "ClusterTrainingRuntime"]
    (folder / "runtimes.yaml").write_text(yaml.safe_dump_all(runtimes))
    assert {item["metadata"]["name"] for item in runtimes} == set(RUNTIMES)
    return folder


def manifest(shipped: Path, runtime: str) -> str:
    """One of the runtimes."""
    items = yaml.safe_load_all((shipped / "runtimes.yaml").read_text())
    return yaml.safe_dump(next(item for item in items if item["metadata"]["name"] == runtime))


@pytest.mark.parametrize("name", COMMANDS)
def test_the_output_is_the_golden_one(name: str) -> None:
    """Text and exit code."""
    compare(name, run(*COMMANDS[name]))


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_every_runtime_that_trainer_ships_is_shown(shipped: Path, runtime: str) -> None:
    """Two nodes with two GPUs each, in one queue."""
    trainjob = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": "tune", "labels": {"kueue.x-k8s.io/queue-name": "gpus"}},
        "spec": {
            "runtimeRef": {"name": runtime},
            "trainer": {"numNodes": 2, "resourcesPerNode": {"limits": {"nvidia.com/gpu": 2}}},
        },
    }
    (shipped / "one.yaml").write_text(manifest(shipped, runtime))
    found = run("-f", "-", "-f", "one.yaml", folder=shipped, stdin=yaml.safe_dump(trainjob))
    compare(f"runtime-{runtime}", found)


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_is_shown(shipped: Path, name: str) -> None:
    """With the queues of the examples, and the runtime that it rests on."""
    file, runtime = EXAMPLES[name]
    known = manifest(shipped, runtime) if runtime else ""
    found = run("-f", file, "-f", "examples/queues.yaml", "-f", "-", folder=ROOT, stdin=known)
    compare(f"example-{name}", found)


def test_every_example_is_among_these() -> None:
    """Queues are no example of their own."""
    files = {f"examples/{path.name}" for path in (ROOT / "examples").glob("*.yaml")}
    assert files - {"examples/queues.yaml"} <= {file for file, _ in EXAMPLES.values()}


def test_standard_input_is_a_file_like_others() -> None:
    """The same objects give the same preview but for their place."""
    text = (INPUTS / "chain.yaml").read_text()
    from_stdin = run("-f", "-", "-n", "team-a", stdin=text)
    expected = (GOLDEN / "chain").read_text().replace("chain.yaml:", "stdin:")
    assert shown(from_stdin) == expected


def test_the_example_of_the_documentation_is_real() -> None:
    """It is a golden output, word for word, and its JSON has the fields that there are."""
    text = (ROOT / "docs" / "how-to" / "preview.md").read_text()
    output, _, _ = (GOLDEN / "step-queues").read_text().partition("\n\nexit code")
    assert f"$ kueue-steps preview -f step-queues.yaml -f runtime.yaml\n{output}\n```" in text
    shape = json.loads(text.partition("```json\n")[2].partition("```")[0])
    printed = json.loads(run(*COMMANDS["step-queues"], "-o", "json").output)
    assert list(shape) == list(printed)
    assert list(shape["objects"][0]) == list(printed["objects"][0])
    assert list(shape["objects"][0]["steps"][0]) == list(printed["objects"][0]["steps"][0])
    assert list(shape["assumed"][0]) == list(printed["assumed"][0])


def test_the_page_of_the_examples_is_real() -> None:
    """What it shows of files alone is what is printed; the stack tests see to the rest."""
    shown = dict(promised(ROOT / "examples" / "README.md"))
    alone = {line: text for line, text in shown.items() if "--cluster" not in line}
    assert alone
    for line, text in alone.items():
        assert run(*line.split()[2:], folder=ROOT).output.strip() == text


def test_every_golden_file_has_its_command() -> None:
    """None is left over from a command that is gone."""
    runtimes = (f"runtime-{name}" for name in RUNTIMES)
    named = {*COMMANDS, *runtimes, *(f"example-{name}" for name in EXAMPLES)}
    assert {path.name for path in GOLDEN.iterdir()} == named
