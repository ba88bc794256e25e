"""Alerts and dashboard as written, and promtool to judge them."""

import json
import subprocess
from pathlib import Path
from typing import Any

import yaml

from localcluster.tools import tools

MONITORING = Path(__file__).resolve().parents[2] / "manifests" / "components" / "monitoring"
RULES = yaml.safe_load((MONITORING / "prometheus_rule.yaml").read_text())["spec"]
ALERTS = {rule["alert"]: rule for group in RULES["groups"] for rule in group["rules"]}
DASHBOARD = json.loads((MONITORING / "dashboard.json").read_text())


def promtool(*arguments: str | Path) -> None:
    """Runs it; fails with what it says."""
    command = [tools() / "promtool", *arguments]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


def written(path: Path, content: Any) -> Path:
    """The path, after the content was written there as YAML."""
    path.write_text(yaml.safe_dump(content))
    return path
