"""`kueue-steps steps` on a terminal and on a pipe, live: drawn, redrawn, ended by Ctrl-C."""

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from localcluster.cluster import Cluster
from localcluster.layout import HOST, unused
from tests.stack.objects import Object, cluster_queue, jobset, step
from tests.stack.steps_command import PROGRAM, View, cleared, command
from tests.stack.team import Team, eventually
from tests.stack.terminal import HIDE_CURSOR, SHOW_CURSOR, Terminal, on_terminal

ESCAPE: Final = "\x1b["
WITHOUT_RICH: Final = """
import sys
sys.modules["rich"] = None
from webhook.cli import main
main()
"""


@pytest.fixture
def new_team(new_team: Callable[..., Team]) -> Iterator[Callable[..., Team]]:
    """Teams whose work is gone afterwards: some of it would hold GPUs for long."""
    with cleared(new_team) as create:
        yield create


@pytest.fixture
def crew(new_team: Callable[..., Team]) -> Team:
    """A team whose JobSet waits for eight GPUs while it has one."""
    team = new_team(gpus=1)
    first = step("train", gpus=8, run_for="600s")
    team.submit(jobset("tune", team.namespace, team.label, first, step("b", "train")))
    View(team, "tune").await_state("train", "queued")
    return team


def _await(terminal: Terminal, words: str) -> None:
    eventually(lambda: words in terminal.written, words)


def _grant(team: Team) -> None:
    team.cluster.apply([cluster_queue(team.namespace, gpus=8)])


def test_the_live_view_follows_a_step_from_the_queue_to_its_run(crew: Team) -> None:
    """Drawn in colours, redrawn in place; Ctrl-C ends it with 0 and gives the cursor back."""
    arguments = command(crew.cluster, "tune", "-n", crew.namespace, "--watch")
    with on_terminal(arguments) as terminal:
        _await(terminal, "\x1b[33mqueued")
        assert "├─ train" in terminal.written
        assert HIDE_CURSOR in terminal.written
        _grant(crew)
        _await(terminal, "\x1b[1;32mrunning")
        terminal.interrupt()
        assert terminal.ended() == 0
        assert terminal.written.rindex(SHOW_CURSOR) > terminal.written.rindex(HIDE_CURSOR)
        assert f"{ESCAPE}1A" in terminal.written, "it was redrawn in place"
        assert "Traceback" not in terminal.written


def test_a_terminal_without_rich_gets_plain_text(crew: Team) -> None:
    """The same program, and no control character."""
    _, *arguments = command(crew.cluster, "tune", "-n", crew.namespace)
    plain = [sys.executable, "-c", WITHOUT_RICH, *arguments[2:]]
    with on_terminal(plain) as terminal:
        assert terminal.ended() == 0
        assert ESCAPE not in terminal.written
        assert "|- train" in terminal.written


def test_one_look_on_a_terminal_is_coloured_unless_no_color_is_set(crew: Team) -> None:
    """NO_COLOR takes the colours and leaves the tree."""
    arguments = command(crew.cluster, "tune", "-n", crew.namespace)
    with on_terminal(arguments) as terminal:
        assert terminal.ended() == 0
        assert "\x1b[33mqueued" in terminal.written
    with on_terminal(arguments, {"NO_COLOR": "1"}) as terminal:
        assert terminal.ended() == 0
        assert "\x1b[33m" not in terminal.written
        assert "├─ train" in terminal.written


def test_a_pipe_gets_a_block_for_each_change(crew: Team) -> None:
    """A line with the time, then the table; plain text; SIGINT ends it with 0."""
    arguments = command(crew.cluster, "tune", "-n", crew.namespace, "-w")
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as watch:
        assert watch.stdout
        assert watch.stdout.readline().startswith("20")
        lines = [watch.stdout.readline()]
        _grant(crew)
        while not lines[-1].startswith("|- train") or " running " not in lines[-1]:
            lines.append(watch.stdout.readline())
            assert lines[-1], "the watch has ended"
        watch.send_signal(signal.SIGINT)
        rest = watch.stdout.read()
    assert watch.returncode == 0
    text = "".join((*lines, rest))
    assert any(line.startswith("|- train") and " queued " in line for line in lines)
    assert ESCAPE not in text
    assert max(map(len, lines)) > 80


def test_json_is_a_document_a_line(crew: Team) -> None:
    """One for each change."""
    arguments = command(crew.cluster, "tune", "-n", crew.namespace, "-w", "-o", "json")
    states = list[str]()
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as watch:
        assert watch.stdout
        for line in watch.stdout:
            [parent] = json.loads(line)["parents"]
            states.append(parent["steps"][0]["state"])
            if len(states) == 1:
                _grant(crew)
            if states[-1] == "running":
                watch.send_signal(signal.SIGINT)
                break
    assert watch.returncode == 0
    assert states[0] == "queued"


def test_a_watch_outlives_an_api_server_that_is_gone_for_a_while(
    crew: Team, tmp_path: Path
) -> None:
    """It says so, keeps what it saw, and goes on when the API server is back."""
    [port] = unused(1)
    path = _kubeconfig(tmp_path, port)
    place = ("tune", "-n", crew.namespace, "--kubeconfig", str(path), "-w", "-o", "json")
    with _reachable(crew.cluster, port):
        watch = subprocess.Popen([*PROGRAM, *place], stdout=subprocess.PIPE, text=True)
        try:
            assert _next(watch)["problem"] is None
        except BaseException:
            watch.kill()
            raise
    with watch:
        try:
            lost = _next(watch, lambda document: document["problem"] is not None)
            assert "the API server can't be reached" in lost["problem"]
            assert lost["parents"][0]["name"] == "tune"
            with _reachable(crew.cluster, port):
                _next(watch, lambda document: document["problem"] is None)
        finally:
            watch.send_signal(signal.SIGINT)
    assert watch.returncode == 0


def _next(watch: subprocess.Popen[str], is_it: Callable[[Object], bool] = bool) -> Object:
    """The next document that is so."""
    for line in watch.stdout or ():
        document: Object = json.loads(line)
        if is_it(document):
            return document
    raise AssertionError("the watch has ended")


@contextmanager
def _reachable(cluster: Cluster, port: int) -> Iterator[None]:
    """The API server, as alice sees it, at this port too: a way to it that may be cut."""
    kubectl = [str(cluster.bin_dir / "kubectl"), f"--kubeconfig={cluster.kubeconfig('alice')}"]
    proxy = subprocess.Popen([*kubectl, "proxy", f"--port={port}"], stdout=subprocess.DEVNULL)
    with proxy:
        try:
            eventually(lambda: _listens(port), "the proxy listens")
            yield
        finally:
            proxy.kill()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((HOST, port)) == 0


def _kubeconfig(folder: Path, port: int) -> Path:
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "a", "cluster": {"server": f"http://{HOST}:{port}"}}],
        "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
        "users": [{"name": "a", "user": {}}],
        "current-context": "a",
    }
    path = folder / "config"
    path.write_text(json.dumps(content))
    return path
