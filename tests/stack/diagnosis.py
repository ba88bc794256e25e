"""Runs `kueue-steps doctor` as a person would."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from localcluster.cluster import Cluster
from tests.stack.objects import Object

HEAD: Final = {"apiVersion": "config.kueue-steps.io/v1alpha1", "kind": "Configuration"}
PROBLEMS: Final = {"warning", "error"}


@dataclass(frozen=True)
class Diagnosis:
    """What the command printed, and its exit code."""

    code: int
    findings: list[Object]

    def severities(self, check: str) -> set[str]:
        """What was said under this name."""
        return {item["severity"] for item in self.findings if item["check"] == check}

    def says(self, check: str, severity: str, words: str) -> bool:
        """Whether such a finding has these words."""
        return any(
            words in item["message"]
            for item in self.findings
            if (item["check"], item["severity"]) == (check, severity)
        )

    @property
    def problems(self) -> list[str]:
        """The names of the checks with warnings and errors."""
        return [item["check"] for item in self.findings if item["severity"] in PROBLEMS]


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """The command with these arguments."""
    command = [sys.executable, "-m", "webhook", "doctor", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def examine(cluster: Cluster, *arguments: str | Path, user: str = "admin") -> Diagnosis:
    """What it finds."""
    done = run("--kubeconfig", cluster.kubeconfig(user), "-o", "json", *arguments)
    assert done.stderr == "", done.stderr
    return Diagnosis(done.returncode, json.loads(done.stdout)["findings"])


def configuration(folder: Path, **sections: Any) -> Path:
    """A configuration file of the server."""
    path = folder / "configuration.yaml"
    path.write_text(yaml.safe_dump({**HEAD, **sections}))
    return path
