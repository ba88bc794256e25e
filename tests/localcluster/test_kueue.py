"""What Kueue is configured with."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from localcluster import kueue
from localcluster.layout import Layout, free_ports
from localcluster.modules import KUEUE
from localcluster.options import Options

SHIPPED = {
    "apiVersion": "config.kueue.x-k8s.io/v1beta2",
    "kind": "Configuration",
    "leaderElection": {"leaderElect": True, "resourceName": "c1f6bfd2.kueue.x-k8s.io"},
    "controller": {"groupKindConcurrency": {"Job.batch": 5}},
    "integrations": {"frameworks": ["batch/job", "pod"]},
}


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    """A layout whose module cache holds nothing but Kueue's configuration."""
    folder = tmp_path / "kueue-module"
    shipped = folder / "config" / "components" / "manager" / kueue.CONFIG_KEY
    shipped.parent.mkdir(parents=True)
    shipped.write_text(yaml.safe_dump(SHIPPED))
    return Layout(tmp_path / "state", free_ports(), tmp_path / "bin", {KUEUE: folder})


def configured(layout: Layout, **options: Any) -> dict[str, Any]:
    """The configuration that the options lead to."""
    return kueue.configuration(SHIPPED, layout, Options(**options))


def test_frameworks_are_exactly_those_asked_for(layout: Layout) -> None:
    """The shipped list of integrations is replaced, not extended."""
    written = configured(layout, frameworks=("batch/job",))
    assert written["integrations"]["frameworks"] == ["batch/job"]


@pytest.mark.parametrize("manage_all", [True, False])
def test_manage_all_is_kueues_own_setting(layout: Layout, *, manage_all: bool) -> None:
    """`manage_all` is manageJobsWithoutQueueName."""
    written = configured(layout, manage_all=manage_all)
    assert written["manageJobsWithoutQueueName"] is manage_all


def test_what_upstream_ships_stays(layout: Layout) -> None:
    """What we do not need to change is as in a real installation."""
    written = configured(layout)
    assert written["controller"] == SHIPPED["controller"]
    assert written["leaderElection"] == {
        "leaderElect": False,
        "resourceName": "c1f6bfd2.kueue.x-k8s.io",
    }


def test_the_extra_configuration_has_the_last_word(layout: Layout) -> None:
    """A test may set anything, without losing what is beside it."""
    written = configured(layout, kueue_extra={"webhook": {"host": "::1"}, "waitForPodsReady": {}})
    assert written["webhook"]["host"] == "::1"
    assert written["webhook"]["port"] == layout.ports.kueue
    assert written["waitForPodsReady"] == {}


def test_the_config_map_says_what_the_process_runs_with(layout: Layout) -> None:
    """The ConfigMap in the cluster and the file of the process are the same text."""
    config_map = kueue.configure(layout, Options(frameworks=("batch/job",)))
    (argument,) = (a for a in kueue.component(layout).arguments if a.startswith("--config="))
    text = Path(argument.removeprefix("--config=")).read_text()
    assert config_map["metadata"] == {"namespace": "kueue-system", "name": "kueue-manager-config"}
    assert config_map["data"] == {"controller_manager_config.yaml": text}
    assert yaml.safe_load(text) == configured(layout, frameworks=("batch/job",))


def test_options_survive_their_program() -> None:
    """Another program reads the options that a control plane was started with."""
    options = Options(frameworks=("batch/job",), manage_all=True, kueue_extra={"a": {"b": 1}})
    assert Options.from_json(options.as_json()) == options
