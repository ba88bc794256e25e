"""docs/reference is what the code says, and says all of it."""

import json
import os
import subprocess
import sys
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest
from pydantic.fields import FieldInfo

from docsite import cases, configuration, labels, metrics, reasons, reference
from webhook.cli import main
from webhook.preview.explanations import EXPLANATIONS
from webhook.rules import names
from webhook.rules.reasons import EventReason, Reason

NOT_ON_OBJECTS = {
    names.OURS,
    names.PATCH_MANAGER,
    names.MULTIKUEUE,
    names.TRAINJOB_CONTROLLER,
    names.JOBSET_CONTROLLER,
    *names.FRAMEWORKS,
}
"""Names with a slash that are no labels and no annotations."""


def _page(name: str) -> str:
    return (reference.FOLDER / name).read_text()


def test_the_pages_are_up_to_date() -> None:
    """`make reference` would change nothing."""
    assert reference.stale() == []


def test_a_page_that_was_changed_by_hand_is_seen(tmp_path: Path) -> None:
    """And so is one that is not there."""
    for name in reference.PAGES:
        (tmp_path / name).write_text(_page(name))
    (tmp_path / "cli.md").write_text("by hand")
    (tmp_path / "labels.md").unlink()
    assert reference.stale(tmp_path) == ["labels.md", "cli.md"]


def test_every_case_has_a_test_and_every_test_a_case_that_there_is() -> None:
    """Numbers that a test names lead to a line of the page."""
    known = [number for group in cases.CASES.values() for number in group]
    assert sorted(cases.naming_files()) == sorted(known)


def test_every_label_and_annotation_is_explained() -> None:
    """Whatever of `names` can be on an object has an entry, and nothing else has."""
    constants = {name: value for name, value in vars(names).items() if name.isupper()}
    known = {value for value in constants.values() if isinstance(value, str) and "/" in value}
    assert {*labels.OURS, *labels.THEIRS} == known - NOT_ON_OBJECTS
    assert all(key.startswith("kueue-steps.io/") for key in labels.OURS)


def test_every_reason_is_explained_once() -> None:
    """Each is in one group, with a meaning."""
    grouped = [reason for uses in reasons.GROUPS.values() for reason in uses]
    assert sorted(grouped) == sorted(Reason)
    assert all(
        reasons.meaning(reason, use)
        for uses in reasons.GROUPS.values()
        for reason, use in uses.items()
    )


def test_every_reason_of_an_event_is_explained() -> None:
    """Each has its sentence."""
    assert set(reasons.EVENTS) == set(EventReason)


def test_reasons_of_new_parents_have_the_words_of_preview() -> None:
    """What `preview` says of a reason is on the page too."""
    page = _page("reasons.md")
    assert [words for _, words in EXPLANATIONS.values() if words not in page] == []


def test_every_label_of_a_metric_is_explained() -> None:
    """No label is without its values, and none is explained that no metric has."""
    used = {label for family in metrics.families() for label in metrics.labels(family)}
    assert used == set(metrics.LABELS)


def test_every_key_of_the_configuration_is_explained() -> None:
    """Each has a sentence, and no sentence is of a key that there is not."""
    assert {key for key, _, _ in configuration.every_key()} == set(configuration.MEANINGS)


def test_every_command_and_option_is_there() -> None:
    """Whatever is added to the program is on the page."""
    page = _page("cli.md")
    for name, command in main.commands.items():
        assert f"\n## kueue-steps {name}\n" in page
        for parameter in command.params:
            assert all(option in page for option in parameter.opts if option.startswith("-"))


OTHER_VALUES: dict[str, Any] = {
    "kueue.frameworks": ["batch/job"],
    "kueue.manageJobsWithoutQueueName": True,
    "kueue.managedJobsNamespaceSelector": {"matchLabels": {"a": "b"}},
    "controllers.kueue": ["system:somebody"],
    "controllers.jobSet": ["system:somebody:else"],
}
PRINT = """\
import json
from webhook import settings
print(settings.load(None).model_dump_json(by_alias=True))
"""


def _another(key: str, field: FieldInfo) -> Any:
    """A value that the key does not have by default."""
    kind, default = field.annotation, field.default
    if key in OTHER_VALUES:
        return OTHER_VALUES[key]
    if get_origin(kind) is Literal:
        return next(choice for choice in get_args(kind) if choice != default)
    if isinstance(default, StrEnum):
        return next(str(choice) for choice in type(default) if choice is not default)
    if isinstance(default, bool):
        return not default
    if isinstance(default, timedelta):
        return f"{default.total_seconds() * 0.75}s"
    if isinstance(default, float):
        return default * 0.75
    return default + 1 if isinstance(default, int) else f"/another{default or ''}"


def _set(key: str, content: dict[str, Any]) -> Any:
    for part in key.split("."):
        content = content[part]
    return content


def test_every_variable_sets_its_key() -> None:
    """With all of them in the environment, every key has the value of its variable."""
    values = {key: _another(key, field) for key, field, _ in configuration.every_key()}
    variables = {
        variable: json.dumps(values[key])
        if isinstance(values[key], list | dict)
        else str(values[key])
        for key, _, variable in configuration.every_key()
    }
    command = [sys.executable, "-c", PRINT]
    environment = {**os.environ, **variables}
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    for key, field, _ in configuration.every_key():
        if isinstance(field.default, timedelta):
            assert _set(key, found) != field.default
        elif key != "kueue.managedJobsNamespaceSelector":
            assert _set(key, found) == values[key], key
    assert found["kueue"]["managedJobsNamespaceSelector"]["matchLabels"] == {"a": "b"}


@pytest.mark.parametrize("name", reference.PAGES)
def test_a_page_says_where_it_comes_from(name: str) -> None:
    """Nobody edits what the next `make reference` would undo."""
    assert "by `make reference`. -->" in _page(name).splitlines()[2]
