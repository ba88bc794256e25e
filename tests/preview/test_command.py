"""The command: usage, exit codes, what it does not load."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.preview.printed import INPUTS, run

QUEUE = "kueue.x-k8s.io/queue-name"
WRONG = {
    "no file": ([], "Missing option '-f'"),
    "a file that there is not": (["-f", "nowhere.yaml"], "does not exist"),
    "a folder": (["-f", "."], "is a directory"),
    "a form that there is not": (["-f", "chain.yaml", "-o", "xml"], "xml"),
    "a kubeconfig without --cluster": (
        ["-f", "chain.yaml", "--kubeconfig", "chain.yaml"],
        "add --cluster",
    ),
    "a configuration that the server refuses": (
        ["-f", "chain.yaml", "--config", "gang.yaml"],
        "gang.yaml must say apiVersion: config.kueue-steps.io/v1alpha1",
    ),
}


@pytest.mark.parametrize(("arguments", "message"), WRONG.values(), ids=WRONG.keys())
def test_wrong_usage_is_told(arguments: list[str], message: str) -> None:
    """Exit 2, and what is wrong."""
    found = run(*arguments)
    assert found.exit_code == 2
    assert message in found.output


def test_a_file_that_is_no_yaml_is_named_with_its_line() -> None:
    """Exit 2; nothing is previewed."""
    found = run("-f", "chain.yaml", "-f", "-", stdin="a: 1\nb: [\n")
    assert (found.exit_code, found.stdout) == (2, "")
    assert found.stderr.startswith("stdin:3: this is no YAML: ")


def test_what_a_file_says_can_not_steer_a_terminal() -> None:
    """Whoever wrote it chose its names and annotations, and its keys."""
    hostile = "a\n  step: fine\x1b[2J\x9b\u202e"
    metadata = {"name": hostile, "labels": {QUEUE: hostile}, "annotations": {hostile: hostile}}
    item = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": metadata}
    for content in (item, {**item, "spec": hostile}, {**item, "metadata": {"name": hostile}}):
        found = run("-f", "-", stdin=yaml.safe_dump(content))
        assert found.output.replace("\n", "").isprintable()
        assert not any(line.startswith("  step: fine") for line in found.output.splitlines())
        assert run("-f", "-", "-o", "json", stdin=yaml.safe_dump(content)).output.isascii()


def test_the_name_of_a_file_can_not_steer_a_terminal(tmp_path: Path) -> None:
    """It is in the message, where it is no YAML."""
    name = "a\n\x1b[2J\u202e.yaml"
    (tmp_path / name).write_text("a: [")
    found = run("-f", name, folder=tmp_path)
    assert found.exit_code == 2
    assert found.stderr.startswith(r"a \x1b[2J\u202e.yaml:1: this is no YAML: ")
    assert found.stderr.removesuffix("\n").isprintable()


def test_a_configuration_can_not_steer_a_terminal(tmp_path: Path) -> None:
    """What is wrong with it has a line for each key."""
    head = {"apiVersion": "config.kueue-steps.io/v1alpha1", "kind": "Configuration"}
    path = tmp_path / "configuration.yaml"
    path.write_text(yaml.safe_dump({**head, "a\x1b[2J": 1, "b\u202e": 1}))
    found = run("-f", "chain.yaml", "--config", str(path))
    assert (found.exit_code, found.stderr.count("\n")) == (2, 3)
    assert found.stderr.replace("\n", "").isprintable()


def _outcomes(*objects: Any) -> list[tuple[str, str]]:
    found = run("-f", "-", "-o", "json", stdin=yaml.safe_dump_all(objects))
    report = json.loads(found.output)
    return [(one["outcome"], one["reason"]) for one in report["objects"]]


ODD: dict[str, Any] = {
    "no metadata": {},
    "metadata that is none": {"metadata": None},
    "metadata that is a list": {"metadata": []},
    "a spec that is a text": {"metadata": {"labels": {QUEUE: "a"}}, "spec": "none"},
    "steps that are texts": {
        "metadata": {"labels": {QUEUE: "a"}},
        "spec": {"replicatedJobs": ["a"], "runtimeRef": "a"},
    },
    "a spec that is a text, without a queue": {"spec": "none"},
    "containers that are texts": {"spec": {"replicatedJobs": [{"template": {"spec": 5}}]}},
    "a quantity that is none": {
        "spec": {
            "replicatedJobs": [
                {
                    "name": "a",
                    "template": {
                        "spec": {
                            "template": {
                                "spec": {"containers": [{"resources": {"limits": {"cpu": "a"}}}]}
                            }
                        }
                    },
                }
            ]
        }
    },
}


@pytest.mark.parametrize("ref", [None, {"kind": "Runtime", "name": "torch"}, {"name": ""}])
def test_a_trainjob_without_a_runtime_is_a_finding(ref: dict[str, str] | None) -> None:
    """Trainer would refuse it, and the exit code says so."""
    item = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": "tune", "labels": {QUEUE: "gpu"}},
        "spec": {"runtimeRef": ref} if ref else {},
    }
    found = run("-f", "-", stdin=yaml.safe_dump(item))
    assert found.exit_code == 1
    assert "spec.runtimeRef names no TrainingRuntime" in " ".join(found.output.split())


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD.keys())
@pytest.mark.parametrize("kind", ["TrainJob", "JobSet"])
@pytest.mark.parametrize("default", [False, True], ids=["", "with a default queue"])
def test_an_odd_object_is_judged_like_any_other(kind: str, odd: Any, *, default: bool) -> None:
    """Refused or left alone, never a traceback."""
    version = {"TrainJob": "trainer.kubeflow.org/v1alpha1", "JobSet": "jobset.x-k8s.io/v1alpha2"}
    queue = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "LocalQueue",
        "metadata": {"name": "default"},
    }
    item = {"apiVersion": version[kind], "kind": kind, **odd}
    [(outcome, _)] = _outcomes(item, *([queue] if default else []))
    assert outcome in {"refused", "untouched", "whole"}


RUNTIMES = {
    "no spec": {},
    "a spec that is a text": {"spec": "none"},
    "a template that is none": {"spec": {"template": None}},
    "steps that are texts": {"spec": {"template": {"spec": {"replicatedJobs": ["a"]}}}},
    "no steps": {"spec": {"template": {"spec": {"replicatedJobs": []}}}},
}


@pytest.mark.parametrize("runtime", RUNTIMES.values(), ids=RUNTIMES.keys())
def test_an_odd_runtime_is_never_a_traceback(runtime: Any) -> None:
    """The TrainJob is left whole, as the server would."""
    group = "trainer.kubeflow.org/v1alpha1"
    trainjob = {
        "apiVersion": group,
        "kind": "TrainJob",
        "metadata": {"name": "tune", "labels": {QUEUE: "gpus"}},
        "spec": {"runtimeRef": {"name": "odd"}},
    }
    head = {
        "apiVersion": group,
        "kind": "ClusterTrainingRuntime",
        "metadata": {"name": "odd"},
    }
    [(outcome, _)] = _outcomes(trainjob, {**head, **runtime})
    assert outcome == "whole"


def test_a_runtime_whose_jobset_would_be_refused_is_a_finding() -> None:
    """The TrainJob passes, but what Trainer makes of it does not."""
    runtime = yaml.safe_load((INPUTS / "runtime.yaml").read_text())
    steps = runtime["spec"]["template"]["spec"]["replicatedJobs"]
    steps += [{**steps[0], "name": f"s{number}"} for number in range(1000)]
    found = run("-f", "step-queues.yaml", "-f", "-", stdin=yaml.safe_dump(runtime))
    assert found.exit_code == 1
    assert "problem: the JobSet that Trainer makes of it would be refused: " in found.output
    assert "at most 1000 steps can be queued" in found.output


def test_steps_that_share_an_anchor_are_apart() -> None:
    """Each has its own queue, though the file wrote their template once."""
    jobset = (INPUTS / "chain.yaml").read_text().partition("---")[0]
    queues = "  annotations: {kueue-steps.io/step-queues: prepare=cpus}\nspec:"
    found = run("-f", "-", "-o", "json", stdin=jobset.replace("spec:", queues, 1))
    [one] = json.loads(found.output)["objects"]
    assert [row["queue"] for row in one["steps"]] == ["cpus", "gpus", "gpus"]


DOUBTED = {
    "left to the server": (
        "",
        ["this is what a server would do that can't read the runtime either"],
    ),
    "stepped on request": ("  annotations: {kueue-steps.io/mode: step}\n", []),
    "whole on request": ("  annotations: {kueue-steps.io/mode: whole}\n", []),
}


@pytest.mark.parametrize(("asked", "notes"), DOUBTED.values(), ids=DOUBTED.keys())
def test_what_a_missing_runtime_leaves_open_is_said(asked: str, notes: list[str]) -> None:
    """Where the runtime would have decided, and only there."""
    trainjob = (INPUTS / "missing-runtime.yaml").read_text()
    text = trainjob.replace("metadata:\n", f"metadata:\n{asked}")
    found = run("-f", "-", "-o", "json", stdin=text)
    [one] = json.loads(found.output)["objects"]
    assert (one["notes"], found.exit_code) == (notes, 1)


UNMANAGED = {
    "the integration is off": "integrations: {frameworks: [batch/job]}",
    "the namespace is not managed": (
        "integrations: {frameworks: [trainer.kubeflow.org/trainjob]}\n"
        "managedJobsNamespaceSelector: {matchLabels: {queued: yes please}}"
    ),
}


@pytest.mark.parametrize("settings", UNMANAGED.values(), ids=UNMANAGED.keys())
def test_a_default_queue_counts_only_where_kueue_uses_it(settings: str) -> None:
    """Elsewhere an object without a queue stays as it is."""
    config_map = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "kueue-manager-config", "namespace": "kueue-system"},
        "data": {"controller_manager_config.yaml": settings},
    }
    found = run(
        *("-f", "default-queue.yaml", "-f", "-", "-o", "json"), stdin=yaml.safe_dump(config_map)
    )
    [one] = json.loads(found.output)["objects"]
    assert (one["outcome"], one["reason"], one["notes"]) == ("untouched", "NotQueued", [])


def test_a_jobset_of_a_trainjob_that_is_not_there_is_a_finding() -> None:
    """What decides on it is its TrainJob."""
    owner = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "name": "tune",
        "uid": "u",
        "controller": True,
    }
    jobset = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "tune", "ownerReferences": [owner]},
        "spec": {"replicatedJobs": []},
    }
    found = run("-f", "-", stdin=yaml.safe_dump(jobset))
    assert found.exit_code == 1
    assert "OwnerUnreadable" in found.output
    assert "problem: TrainJob default/tune can't be read: not in the files" in found.output


LOADED = """
import sys
from webhook.cli import main
main(["preview", "-f", "gang.yaml"], standalone_mode=False)
"""


def test_the_client_library_is_not_loaded_for_files() -> None:
    """A look at files takes a moment only."""
    path = ":".join([str(Path(__file__).parents[2]), *filter(None, sys.path)])
    found = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", LOADED],
        cwd=INPUTS,
        env={"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = {line.rpartition("|")[2].strip() for line in found.stderr.splitlines()}
    assert "webhook.preview.command" in loaded
    assert not loaded & {"kubernetes", "fastapi", "uvicorn", "aiohttp"}
