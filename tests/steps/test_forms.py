"""What is printed: text, JSON and YAML of a namespace in which everything happens."""

import io
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml
from rich.console import Console

from tests.steps.golden import GOLDEN, compare
from tests.steps.made import NOW, condition, jobset, parent
from tests.steps.scene import everything
from webhook import __version__
from webhook.steps import live, text
from webhook.steps.document import document, rendered
from webhook.steps.parents import parents
from webhook.steps.tree import Admission, Parent, State, Tree
from webhook.steps.wording import asked, length

DOCUMENTATION = Path(__file__).parents[2] / "docs" / "how-to" / "steps.md"
NOTE = "no positions in the queues are told: Kueue's visibility API is not served"


def _tree() -> Tree:
    found = parents(everything())
    queued = tuple(one for one in found if one.admission is not Admission.NONE)
    return Tree(queued, len(found) - len(queued))


def _example() -> tuple[Parent, ...]:
    return tuple(one for one in _tree().parents if one.name in {"eval", "tune", "gang"})


def test_the_table_is_the_golden_one() -> None:
    """Every state, columns aligned, lines as long as they are."""
    compare("table", text.table(_tree(), NOW))


def test_the_json_is_the_golden_one() -> None:
    """The same in JSON."""
    compare("json", rendered(_tree(), NOW, "json"))


def test_every_state_is_in_the_golden_files() -> None:
    """But for one that lasts no longer than JobSet takes to make a Job."""
    states = {one.standing.state for parent in _tree().parents for one in parent.steps}
    assert states == set(State) - {State.ABSENT}


def test_json_and_yaml_say_the_same() -> None:
    """In one document, or in many: JSON's are lines then, YAML's are told apart."""
    expected = document(_tree(), NOW)
    assert json.loads(rendered(_tree(), NOW, "json")) == expected
    assert yaml.safe_load(rendered(_tree(), NOW, "yaml")) == expected
    line = rendered(_tree(), NOW, "json", is_line=True)
    assert "\n" not in line
    assert json.loads(line) == expected
    block = rendered(_tree(), NOW, "yaml", is_line=True)
    assert list(yaml.safe_load_all(f"{block}\n{block}")) == [expected, expected]


@pytest.mark.parametrize("form", ["table", "json"])
def test_the_documentation_shows_what_is_printed(form: str) -> None:
    """Its example is this rendering, word for word; JSON has the fields that there are."""
    tree = Tree(_example())
    if form == "table":
        assert f"$ kueue-steps steps\n{text.table(tree, NOW)}\n```" in DOCUMENTATION.read_text()
        return
    shown = json.loads(DOCUMENTATION.read_text().partition("```json\n")[2].partition("```")[0])
    [eval_] = [one for one in document(tree, NOW)["parents"] if one["name"] == "eval"]
    expected = {**document(tree, NOW), "parents": [{**eval_, "steps": eval_["steps"][-1:]}]}
    assert shown | {"version": __version__} == expected


def test_the_documentation_has_a_row_for_each_state() -> None:
    """And for no other."""
    rows = DOCUMENTATION.read_text().partition("| state |")[2].partition("\n\n")[0].splitlines()[2:]
    assert [row.split("|")[1].strip().strip("`") for row in rows] == list(State)


REMARKS: dict[str, tuple[Tree, list[str]]] = {
    "nothing": (Tree(), ["There is no TrainJob and no JobSet that Kueue queues."]),
    "one that is left out": (
        Tree(left_out=1),
        [text.EMPTY, "note: 1 more is not queued by Kueue; --all shows it"],
    ),
    "two that are left out": (
        Tree(left_out=2),
        [text.EMPTY, "note: 2 more are not queued by Kueue; --all shows them"],
    ),
    "something that could not be seen": (Tree(notes=(NOTE,)), [text.EMPTY, f"note: {NOTE}"]),
    "a cluster that is out of sight": (Tree(problem="it is gone"), ["problem: it is gone"]),
}


@pytest.mark.parametrize(("tree", "lines"), REMARKS.values(), ids=REMARKS.keys())
def test_what_is_said_below_the_table(tree: Tree, lines: list[str]) -> None:
    """In sentences, each in its line."""
    assert text.table(tree, NOW).splitlines() == lines


HOSTILE: dict[str, tuple[str, str]] = {
    "a colour": ("\x1b[31mred", r"\x1b[31mred"),
    "a forged row": ("no\n`- node  done", "no `- node done"),
    "a carriage return": ("no\rall is well", "no all is well"),
    "a control sequence in one byte": ("\x9b2J", r"\x9b2J"),
    "another direction of writing": ("\u202egnp", r"\u202egnp"),
    "a bell and a backspace": ("\a\b", r"\x07\x08"),
}


def _of(message: str) -> Tree:
    said = condition("Failed", reason="Odd", message=message)
    return Tree((parent(jobset(said)),), notes=(message,), problem=message)


@pytest.mark.parametrize(("message", "shown"), HOSTILE.values(), ids=HOSTILE.keys())
def test_what_others_say_can_not_steer_a_terminal(message: str, shown: str) -> None:
    """Neither in a row nor below the table, plain or drawn."""
    tree = _of(message)
    lines = text.table(tree, NOW).splitlines()
    assert len(lines) == 1 + 3 + 2
    assert lines[1].endswith(f"step by step; 0 of 2 steps done; Odd: {shown}")
    assert lines[-2:] == [f"note: {shown}", f"problem: {shown}"]
    drawn = io.StringIO()
    Console(file=drawn, width=200).print(live.view(tree, NOW))
    assert [line.rstrip() for line in drawn.getvalue().splitlines()][-2:] == lines[-2:]
    assert f"Odd: {shown}" in drawn.getvalue()


@pytest.mark.parametrize("form", ["json", "yaml"])
@pytest.mark.parametrize("message", [message for message, _ in HOSTILE.values()])
def test_documents_are_plain_and_keep_every_character(message: str, form: str) -> None:
    """As escapes of their own."""
    tree = _of(message)
    written = rendered(tree, NOW, form)
    assert written.replace("\n", "").isprintable()
    assert written.isascii()
    assert yaml.safe_load(written)["problem"] == message


LENGTHS = {0: "0s", 59: "59s", 60: "1m", 61: "1m1s", 3600: "1h", 3661: "1h1m", 90000: "1d1h"}


@pytest.mark.parametrize(("seconds", "written"), LENGTHS.items())
def test_a_length_of_time_has_two_units(seconds: int, written: str) -> None:
    """The largest two, the second left out where it is none."""
    assert length(seconds) == written


ASKED: dict[str, tuple[dict[str, Any], str]] = {
    "GPUs come first, memory is left out": (
        {"cpu": 4, "memory": 8, "nvidia.com/gpu": 2},
        "2 nvidia.com/gpu, 4 cpu",
    ),
    "what others call accelerators": (
        {"google.com/tpu": 4, "nvidia.com/mig-1g.5gb": 1, "example.com/disk": 1},
        "4 google.com/tpu, 1 nvidia.com/mig-1g.5gb",
    ),
    "nothing": ({}, "-"),
}


@pytest.mark.parametrize(("requests", "written"), ASKED.values(), ids=ASKED.keys())
def test_what_is_asked_for(requests: dict[str, Any], written: str) -> None:
    """GPUs by their resource's name, and CPUs."""
    assert asked({key: Decimal(value) for key, value in requests.items()}) == written


def test_every_golden_file_is_compared() -> None:
    """None is left over."""
    assert {path.name for path in GOLDEN.iterdir()} == {"json", "table"}
