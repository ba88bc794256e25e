"""When the demo breaks off, and what it leaves to go on with."""

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from localcluster.cluster import Cluster
from localcluster.demo.errors import DemoFailed
from localcluster.demo.frame import Frame
from localcluster.demo.play import MOST_SECONDS, refuse_failure
from localcluster.demo.scene import Scene, State
from localcluster.demo.session import how_to_go_on
from localcluster.demo.trace import STEPPED
from localcluster.layout import Layout, free_ports

NOTHING = Scene(0.0, [], [], [], [])
FRAME = Frame(STEPPED, 1.0, {"train-a": {"node": State.QUEUED}}, reserved=0, used=0, idle=0.0)


def test_a_failed_trainjob_ends_the_demo() -> None:
    """The message names the TrainJob and where it is."""
    status = {"conditions": [{"type": "Failed", "status": "True"}]}
    failed = {"metadata": {"name": "train-a", "uid": "t"}, "status": status}
    with pytest.raises(DemoFailed, match="stepped: TrainJob train-a failed"):
        refuse_failure(FRAME, replace(NOTHING, trainjobs=[failed]))


def test_waiting_for_ever_ends_the_demo() -> None:
    """The message says how far each step has come."""
    refuse_failure(replace(FRAME, seconds=MOST_SECONDS), NOTHING)
    with pytest.raises(DemoFailed, match="not done after 150 s: train-a > node: queued"):
        refuse_failure(replace(FRAME, seconds=MOST_SECONDS + 1), NOTHING)


def test_what_is_printed_at_the_end_can_be_typed(tmp_path: Path) -> None:
    """Paths are quoted, the example exists, and `down` is told which folder."""
    state = tmp_path / "my state"
    state.mkdir()
    Layout(state, free_ports(), Path("/bin dir"), {}).save()
    text = how_to_go_on(Cluster(state))
    assert f"export KUBECONFIG='{state}/kubeconfigs/admin.yaml'" in text
    assert "export PATH='/bin dir':\"$PATH\"" in text
    assert f"kubectl create -f '{state}/trainjob.yaml'" in text
    assert f"make down STATE='{state}'" in text
    assert yaml.safe_load((state / "trainjob.yaml").read_text())["kind"] == "TrainJob"
