"""How the API server is reached: proxies of the environment, credentials that expire."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.edge.servers import serving
from webhook.cluster.calls import call
from webhook.cluster.connection import connected

PROXY = "http://proxy.example.com:3128"
ENVIRONMENTS: dict[str, tuple[dict[str, str], bool]] = {
    "no proxy": ({}, False),
    "a proxy for https": ({"HTTPS_PROXY": PROXY}, True),
    "a proxy for http alone": ({"HTTP_PROXY": PROXY}, False),
    "the API server is excepted": ({"HTTPS_PROXY": PROXY, "NO_PROXY": "10.96.0.1"}, False),
    "another host is excepted": ({"HTTPS_PROXY": PROXY, "NO_PROXY": "10.96.0.2"}, True),
}
PROGRAM = """
import json
from webhook.cluster.connection import session_options
print(json.dumps(session_options("https://10.96.0.1:443")))
"""


@pytest.mark.parametrize(("proxies", "used"), ENVIRONMENTS.values(), ids=ENVIRONMENTS.keys())
def test_the_environment_is_asked_only_where_it_names_a_proxy(
    proxies: dict[str, str], *, used: bool
) -> None:
    """Elsewhere each request would ask it in a thread, and read ~/.netrc."""
    clean = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")}
    printed = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=clean | proxies,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert json.loads(printed) == {"trust_env": used}


PLUGIN = """#!/bin/sh
echo x >> "$0.runs"
cat <<END
{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",
 "status": {"token": "token-$(grep -c x "$0.runs")", "expirationTimestamp": "2020-01-01T00:00:00Z"}}
END
"""


@pytest.mark.anyio
async def test_an_expired_credential_of_a_plugin_is_renewed(tmp_path: Path) -> None:
    """Tokens of clouds live for minutes, `steps --watch` and a server for longer."""
    seen = list[str]()

    async def api_server(scope: Any, receive: Any, send: Any) -> None:
        seen.append(dict(scope["headers"])[b"authorization"].decode())
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"{}"})

    plugin = tmp_path / "plugin"
    plugin.write_text(PLUGIN)
    plugin.chmod(0o700)
    async with serving(api_server) as listener:
        kubeconfig = _kubeconfig(tmp_path, f"http://127.0.0.1:{listener.port}", plugin)
        async with connected(kubeconfig, renewal=0.05) as api, asyncio.timeout(10):
            while len(set(seen)) < 2:
                await (await call(api, "GET", "/version")).read()
                await asyncio.sleep(0.05)
    assert seen[0] == "Bearer token-1"


def _kubeconfig(folder: Path, server: str, plugin: Path) -> Path:
    exec_ = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": str(plugin),
        "interactiveMode": "Never",
    }
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "it",
        "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
        "clusters": [{"name": "it", "cluster": {"server": server}}],
        "users": [{"name": "it", "user": {"exec": exec_}}],
    }
    path = folder / "kubeconfig"
    path.write_text(json.dumps(content))
    return path
