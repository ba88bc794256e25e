"""How the API server is reached: a proxy of the environment is used, and asked for once."""

import json
import os
import subprocess
import sys

import pytest

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
