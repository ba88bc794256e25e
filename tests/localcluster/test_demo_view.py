"""What is shown while a play goes on."""

import io
from dataclasses import replace

from rich.console import Console

from localcluster.demo.frame import Frame, frame
from localcluster.demo.lines import Lines
from localcluster.demo.meter import Sample
from localcluster.demo.scene import Scene, State
from localcluster.demo.trace import STEPPED, STEPS, WHOLE
from localcluster.demo.view import bar, picture, stage

UNTOUCHED = Frame(
    lane=STEPPED,
    seconds=0.0,
    steps={"train-a": dict.fromkeys(STEPS, State.NOT_CREATED)},
    reserved=0,
    used=0,
    idle=0.0,
)
LATER = replace(
    UNTOUCHED,
    seconds=12.34,
    steps={"train-a": dict.fromkeys(STEPS, State.NOT_CREATED) | {"node": State.RUNNING}},
    reserved=8,
    used=4,
    idle=6.0,
)


def test_the_first_lines_say_which_mode_is_playing() -> None:
    """A title, and what is still to come."""
    assert Lines().of(UNTOUCHED) == [
        "",
        "stepped: with our webhook, one Workload per step",
        "[stepped   0.0 s] train-a > dataset-initializer, model-initializer, node: not created yet",
    ]


def test_each_change_is_one_line() -> None:
    """What stays as it is is not said again."""
    lines = Lines()
    lines.of(UNTOUCHED)
    assert lines.of(LATER) == [
        "[stepped  12.3 s] train-a > node: running",
        "[stepped  12.3 s] GPUs: 8 reserved, 4 really used, of 8",
    ]
    assert lines.of(replace(LATER, seconds=12.6, idle=8.0)) == []


def test_a_state_that_comes_back_is_said_again() -> None:
    """A step that is queued a second time is news."""
    lines = Lines()
    for seen in (UNTOUCHED, LATER):
        lines.of(seen)
    assert "[stepped   0.0 s] train-a > node: not created yet" in lines.of(UNTOUCHED)


def test_the_bar_splits_the_quota() -> None:
    """Used, reserved but idle and free GPUs fill the bar, whatever the figures."""
    for reserved, used, cells in ((8, 4, "█▒"), (2, 2, "█·"), (0, 0, "·"), (8, 16, "█")):
        shown = bar(replace(LATER, reserved=reserved, used=used)).plain.split()[-1]
        assert "".join(dict.fromkeys(shown)) == cells
        assert len(shown) == 32


def test_the_picture_fits_a_terminal_of_80_columns() -> None:
    """Title, steps, states and figures are all there, and none is cut."""
    out = io.StringIO()
    console = Console(file=out, width=80)
    console.print(picture(LATER))
    printed = out.getvalue()
    for text in (STEPPED.title, "12 s", *STEPS, "not created yet", "running", "6 GPU-seconds"):
        assert text in printed
    assert len(printed.splitlines()) == 6


def test_without_a_terminal_lines_are_printed() -> None:
    """Long lines are not wrapped, and nothing in them is taken for markup."""
    out = io.StringIO()
    console = Console(file=out, width=20)
    with stage(console) as show:
        show(UNTOUCHED)
        show(LATER)
    printed = out.getvalue()
    assert "[stepped  12.3 s] GPUs: 8 reserved, 4 really used, of 8\n" in printed


def test_a_frame_is_the_last_sample() -> None:
    """Seconds count from the first sample, idle GPU-seconds add up, states are the scene's."""
    samples = [Sample(5.0, {}, {}), Sample(6.0, {"w": 8}, {}), Sample(8.0, {"w": 8}, {"w": 8})]
    shown = frame(WHOLE, ["train-a"], Scene(8.0, [], [], [], []), samples)
    assert shown == replace(UNTOUCHED, lane=WHOLE, seconds=3.0, reserved=8, used=8, idle=16.0)
