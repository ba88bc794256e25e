"""How to reach the API server over HTTP: what a kubeconfig says, as arguments of an httpx client.

kubectl would do, but starting it costs more than most answers.
"""

import ssl
from pathlib import Path
from typing import Any

import yaml

PATIENCE_SECONDS = 10.0


def arguments(kubeconfig: Path) -> dict[str, Any]:
    """Arguments for httpx.Client or httpx.AsyncClient, as the user of this kubeconfig."""
    config = yaml.safe_load(kubeconfig.read_text())
    cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    return {
        "base_url": cluster["server"],
        "headers": {"Authorization": f"Bearer {user['token']}"},
        "verify": ssl.create_default_context(cafile=cluster["certificate-authority"]),
        "timeout": PATIENCE_SECONDS,
        # A proxy from the environment can't reach loopback.
        "trust_env": False,
    }
