"""Who may take a state folder."""

import sys
from pathlib import Path

import pytest

from localcluster.claim import claimed, ledger
from localcluster.component import Component
from localcluster.errors import StateRefused
from localcluster.layout import Layout, free_ports, load_layout
from localcluster.processes import kill, launch


def test_a_folder_of_other_things_is_never_emptied(tmp_path: Path) -> None:
    """A folder that no control plane made is refused, and left as it is."""
    precious = tmp_path / "precious"
    precious.write_text("kept")
    with pytest.raises(StateRefused, match="name another folder"), claimed(tmp_path):
        pass
    assert precious.read_text() == "kept"


def test_what_a_dead_control_plane_left_is_removed(tmp_path: Path) -> None:
    """A stale folder is emptied for the next one."""
    with claimed(tmp_path):
        (tmp_path / "etcd").mkdir()
        (tmp_path / "etcd" / "data").write_text("old")
    with claimed(tmp_path):
        assert not (tmp_path / "etcd").exists()


def test_two_at_once_are_refused(tmp_path: Path) -> None:
    """While one `up` is at work, another one is told so."""
    with claimed(tmp_path), pytest.raises(StateRefused, match="at work"), claimed(tmp_path):
        pass


def test_a_live_control_plane_is_not_replaced(tmp_path: Path) -> None:
    """As long as one process of it runs, the folder is taken."""
    with claimed(tmp_path):
        component = Component(
            "sleeper", Path(sys.executable), ("-c", "import time; time.sleep(60)")
        )
        process = launch(component, log=tmp_path / "sleeper.log", home=tmp_path)
        ledger(tmp_path).record(process)
    try:
        with pytest.raises(StateRefused, match="up already"), claimed(tmp_path):
            pass
    finally:
        kill(process)
    with claimed(tmp_path):
        assert ledger(tmp_path).processes() == []


def test_no_port_is_given_twice() -> None:
    """Every listener has a port of its own."""
    ports = list(vars(free_ports()).values())
    assert len(set(ports)) == len(ports)


def test_a_layout_survives_its_program(tmp_path: Path) -> None:
    """A later program finds the ports, the binaries and the modules of an earlier one."""
    layout = Layout(tmp_path, free_ports(), tmp_path / "bin", {"m": tmp_path / "mod"})
    layout.save()
    assert load_layout(tmp_path) == layout


def test_a_folder_without_state_says_what_to_do(tmp_path: Path) -> None:
    """Asking a control plane that never was names the command that makes one."""
    with pytest.raises(StateRefused, match="`up` makes one"):
        load_layout(tmp_path)
