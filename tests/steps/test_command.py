"""The command: usage, exit codes, namespaces, what it does not load."""

import io
import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from webhook.cli import main
from webhook.steps.command import Wanted, is_live, wanted


def _kubeconfig(folder: Path, **context: str) -> Path:
    content: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "a", "cluster": {"server": "https://127.0.0.1:1"}}],
        "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a", **context}}],
        "users": [{"name": "a", "user": {"token": "a"}}],
        "current-context": "a",
    }
    path = folder / "config"
    path.write_text(yaml.safe_dump(content))
    return path


def _run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["steps", *arguments], catch_exceptions=False)


WRONG = {
    "a name in all namespaces": (["tune", "-A"], "leave out -A, or NAME"),
    "a kind that there is not": (["job/tune"], "give NAME, trainjob/NAME or jobset/NAME"),
    "a kind without a name": (["trainjob/"], "give NAME, trainjob/NAME or jobset/NAME"),
    "a name that is none": (["foo!"], "'foo!' can't be the name of a TrainJob or JobSet"),
    "two names in one": (["a,b"], "'a,b' can't be the name of a TrainJob or JobSet"),
    "a JobSet's name that is none": (["jobset/a=b"], "'a=b' can't be the name of"),
    "a path for a name": (["a/../b"], "give NAME, trainjob/NAME or jobset/NAME"),
    "a path for a namespace": (["-n", "../a"], "'../a' can't be a namespace"),
    "a form that there is not": (["-o", "wide"], "wide"),
    "two names": (["tune", "eval"], "unexpected extra argument"),
    "a kubeconfig that there is not": (["--kubeconfig", "nowhere"], "does not exist"),
}


@pytest.mark.parametrize(("arguments", "message"), WRONG.values(), ids=WRONG.keys())
def test_wrong_usage_is_told(arguments: list[str], message: str) -> None:
    """Exit 2, and what is wrong."""
    found = _run(*arguments)
    assert found.exit_code == 2
    assert message in found.output


@pytest.mark.parametrize("watch", [[], ["-w"]], ids=["once", "watch"])
def test_a_cluster_that_does_not_answer_is_a_failure(tmp_path: Path, watch: list[str]) -> None:
    """Exit 1 and one sentence, with --watch too."""
    found = _run("--kubeconfig", str(_kubeconfig(tmp_path)), *watch)
    assert (found.exit_code, found.stdout) == (1, "")
    assert "the API server can't be reached: " in found.stderr


def test_no_kubeconfig_that_makes_sense_is_a_failure(tmp_path: Path) -> None:
    """Exit 1, in the words of the other commands."""
    (tmp_path / "config").write_text("- no\n- mapping\n")
    found = _run("--kubeconfig", str(tmp_path / "config"))
    assert found.exit_code == 1
    assert "No API server is known" in found.stderr


class Hostile(BaseHTTPRequestHandler):
    """An API server whose words move the cursor and forge a line."""

    def do_GET(self) -> None:
        self.send_response(500)
        self.end_headers()
        self.wfile.write(json.dumps({"message": "bad\n\x1b[2Jfine\x9b\u202e"}).encode())

    def log_message(self, *said: object) -> None:
        """Nobody reads it."""


def test_a_message_of_the_cluster_can_not_steer_a_terminal(tmp_path: Path) -> None:
    """It is one line, with escapes."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Hostile) as server:
        threading.Thread(target=server.serve_forever).start()
        path = _kubeconfig(tmp_path)
        path.write_text(
            path.read_text()
            .replace("https:", "http:")
            .replace("127.0.0.1:1", f"127.0.0.1:{server.server_port}")
        )
        found = _run("--kubeconfig", str(path))
        server.shutdown()
    assert (found.exit_code, found.stderr) == (1, r"bad \x1b[2Jfine\x9b\u202e" + "\n")


NAMES: dict[str, tuple[str, Wanted]] = {
    "none": ("", Wanted("team-a")),
    "a bare one": ("tune", Wanted("team-a", "", "tune")),
    "a TrainJob's": ("trainjob/tune", Wanted("team-a", "TrainJob", "tune")),
    "several, as kubectl allows": ("TrainJobs/tune", Wanted("team-a", "TrainJob", "tune")),
    "a JobSet's": ("jobset/tune", Wanted("team-a", "JobSet", "tune")),
}


@pytest.mark.parametrize(("name", "wish"), NAMES.values(), ids=NAMES.keys())
def test_a_name_may_say_its_kind(name: str, wish: Wanted) -> None:
    """As kubectl writes it."""
    assert wanted(None, "team-a", name) == wish


def test_the_namespace_is_that_of_the_context(tmp_path: Path) -> None:
    """Unless one is given, or all are asked for; `default` where the context has none."""
    context = _kubeconfig(tmp_path, namespace="team-b")
    assert wanted(context, "", "").namespace == "team-b"
    assert wanted(context, "team-a", "").namespace == "team-a"
    assert wanted(context, "", "", everywhere=True).namespace == ""
    assert wanted(_kubeconfig(tmp_path), "", "").namespace == "default"


LOADED = """
import sys
from webhook.cli import main
try:
    main(["steps", "--help"])
except SystemExit:
    print(*sys.modules, file=sys.stderr)
"""


def test_help_loads_no_client_and_says_how_to_get_the_live_view() -> None:
    """It is there at once."""
    found = subprocess.run(
        [sys.executable, "-c", LOADED],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "the extra `terminal`" in found.stdout
    slow = {"kubernetes", "aiohttp", "rich", "fastapi", "uvloop"}
    assert not slow & set(found.stderr.split())


SERVE_WITHOUT_UVLOOP = """
import sys
sys.modules["uvloop"] = None
from webhook.cli import main
main(["steps", "--help"])
"""


def test_the_plugin_needs_no_uvloop() -> None:
    """It is the server's alone."""
    found = subprocess.run(
        [sys.executable, "-c", SERVE_WITHOUT_UVLOOP],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (found.returncode, found.stderr) == (0, "")


class Screen(io.TextIOWrapper):
    """A terminal that writes in one encoding."""

    def __init__(self, encoding: str) -> None:
        super().__init__(io.BytesIO(), encoding=encoding)

    def isatty(self) -> bool:
        return True


ENCODINGS = {"utf-8": True, "UTF8": True, "ascii": False, "iso-8859-1": False, "cp1252": False}


@pytest.mark.parametrize(("encoding", "drawn"), ENCODINGS.items())
def test_a_terminal_that_has_no_branches_gets_the_plain_table(
    encoding: str, *, drawn: bool
) -> None:
    """What it can't write would end the command."""
    assert is_live(Screen(encoding)) is drawn


def test_a_letter_that_the_terminal_has_not_is_an_escape() -> None:
    """The rest is shown."""
    found = subprocess.run(
        [sys.executable, "-m", "webhook", "preview", "-f", "-"],
        cwd=Path(__file__).parents[2],
        input=yaml.safe_dump(
            {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": "語"}}
        ).encode(),
        env={**os.environ, "PYTHONIOENCODING": "iso-8859-1"},
        capture_output=True,
        check=False,
    )
    assert (found.returncode, found.stderr) == (0, b"")
    assert found.stdout.startswith(rb"JobSet default/\u8a9e (stdin:1)")
