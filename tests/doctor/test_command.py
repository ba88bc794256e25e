"""The command line: what is wrong usage, and what is no way to a cluster."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from webhook.cli import main

USAGE = {
    "a form that there is not": (("-o", "xml"), "'xml' is not one of"),
    "an option that there is not": (("--fix",), "No such option"),
    "an argument": (("team-a",), "unexpected extra argument"),
    "a configuration that is not there": (("--config", "none.yaml"), "'none.yaml' does not exist"),
    "a folder as configuration": (("--config", "."), "is a directory"),
    "a kubeconfig that is not there": (("--kubeconfig", "none"), "'none' does not exist"),
    "an option without its value": (("-n",), "requires an argument"),
}


@pytest.mark.parametrize(("arguments", "words"), USAGE.values(), ids=USAGE.keys())
def test_wrong_usage_is_exit_code_2(arguments: tuple[str, ...], words: str) -> None:
    """It is said on standard error, and no cluster is looked for."""
    result = CliRunner().invoke(main, ["doctor", *arguments])
    assert result.exit_code == 2
    assert words in result.stderr
    assert result.stdout == ""


NO_CLUSTER = {
    "an empty one": "",
    "one that is no YAML": "a: [",
    "one that is a list": "- a\n",
    "one that is a word": "a\n",
    "one without a context": "{}",
    "one whose context leads nowhere": "current-context: none\ncontexts: []\n",
}


def test_where_there_is_no_kubeconfig_the_place_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As kubectl would look for it."""
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    result = CliRunner().invoke(main, ["doctor"])
    assert result.exit_code == 1
    assert f"there is no {tmp_path / 'none'})" in result.stderr


@pytest.mark.parametrize("text", NO_CLUSTER.values(), ids=NO_CLUSTER.keys())
def test_a_kubeconfig_that_names_no_cluster_is_exit_code_1(text: str, tmp_path: Path) -> None:
    """One sentence that says what to give."""
    path = tmp_path / "config"
    path.write_text(text)
    result = CliRunner().invoke(main, ["doctor", "--kubeconfig", str(path)])
    assert result.exit_code == 1
    assert result.stderr.startswith("No API server is known")
    assert "Give --kubeconfig" in result.stderr
