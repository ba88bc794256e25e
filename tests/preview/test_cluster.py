"""The command with `--cluster`: an API server that is not there, and one that takes its time."""

import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import yaml

from tests.preview.printed import run
from webhook.settings import Configuration


def kubeconfig(folder: Path, server: str) -> str:
    """A kubeconfig for the API server that is there."""
    cluster = {"name": "a", "cluster": {"server": server}}
    context = {"name": "a", "context": {"cluster": "a", "user": "a"}}
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [cluster],
        "contexts": [context],
        "users": [{"name": "a", "user": {"token": "a"}}],
        "current-context": "a",
    }
    path = folder / "config"
    path.write_text(yaml.safe_dump(content))
    return str(path)


def test_a_cluster_that_does_not_answer_is_a_failure(tmp_path: Path) -> None:
    """Exit 1 and one sentence: what was asked for could not be looked at."""
    path = kubeconfig(tmp_path, "https://127.0.0.1:1")
    found = run("-f", "gang.yaml", "--cluster", "--kubeconfig", path)
    assert (found.exit_code, found.stdout) == (1, "")
    assert "Nothing could be read in the cluster: the API server could not be" in found.stderr


class Slow(BaseHTTPRequestHandler):
    """An API server that takes longer than the server may wait for it, and has nothing."""

    def do_GET(self) -> None:
        time.sleep(Configuration().lookups.timeout_seconds + 0.2)
        self.send_error(404)

    def log_message(self, *_: object) -> None:
        """A test's output is its own."""


def test_a_cluster_that_is_slow_is_waited_for(tmp_path: Path) -> None:
    """The server's bound is for the time in which the API server waits."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Slow) as server:
        threading.Thread(target=server.serve_forever).start()
        path = kubeconfig(tmp_path, f"http://127.0.0.1:{server.server_port}")
        try:
            found = run("-f", "gang.yaml", "--cluster", "--kubeconfig", path)
        finally:
            server.shutdown()
    assert (found.exit_code, found.stderr) == (0, "")
    assert "warning: LocalQueue" in found.output
