"""The configuration that is examined is the one that the installed server runs with."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.doctor import patient as clinic
from webhook.cluster.survey import Answers
from webhook.doctor import questions
from webhook.doctor.installed import given, installed, needs
from webhook.doctor.place import SHIPPED
from webhook.rules.facts import Absent, Found, Unreadable
from webhook.rules.policy import Mode, Policy

HEAD = {"apiVersion": "config.kueue-steps.io/v1alpha1", "kind": "Configuration"}
CONFIG_MAP = questions.config_map(SHIPPED.namespace, SHIPPED.config_map)
DEPLOYMENT = questions.deployment(SHIPPED)
NAME = "ConfigMap kueue-steps-system/kueue-steps-config"


def _answers(text: str, **environment: str) -> Answers:
    variables: list[dict[str, Any]] = [
        {"name": name, "value": value} for name, value in environment.items()
    ]
    container = {"env": [*variables, {"name": "KUEUE_STEPS_X", "valueFrom": {}}]}
    deployment = {"spec": {"template": {"spec": {"containers": [container]}}}}
    return {
        CONFIG_MAP: Found({"data": {"configuration.yaml": text}}),
        DEPLOYMENT: Found(deployment),
    }


def test_what_the_config_map_says_is_examined() -> None:
    """Without a file on the command line."""
    text = yaml.safe_dump({**HEAD, "mode": {"default": "whole"}})
    configuration, source = installed(_answers(text))
    assert configuration.mode.default is Mode.WHOLE
    assert (source.name, source.problem, source.is_missing) == (NAME, "", False)


def test_variables_of_the_deployment_win_over_the_config_map() -> None:
    """Sections and keys that the file has and those that it lacks; values of other types too."""
    text = yaml.safe_dump({**HEAD, "mode": {"default": "whole"}})
    configuration, source = installed(
        _answers(
            text,
            KUEUE_STEPS_MODE__DEFAULT="step",
            KUEUE_STEPS_MODE__ALLOW_OVERRIDE="false",
            KUEUE_STEPS_CONTROLLERS__JOB_SET='["system:me"]',
            PATH="/bin",
        )
    )
    assert source.problem == ""
    assert configuration.mode.default is Mode.STEP
    assert configuration.mode.allow_override is False
    assert configuration.controllers.job_set == ("system:me",)


def _led_to(*namespaces: str) -> Answers:
    hooks = [clinic.hook(f"{n}.example", "", "", namespace=n) for n in namespaces]
    return {questions.MUTATING: Found({"items": [clinic.configuration("a-kueue-steps", *hooks)]})}


HOMES: dict[str, tuple[Answers, str]] = {
    "all webhooks lead to one namespace": (_led_to("helm", "helm"), "helm"),
    "they lead to two": (_led_to("helm", "elsewhere"), SHIPPED.namespace),
    "they lead nowhere": (_led_to(), SHIPPED.namespace),
    "there are no registrations": ({questions.MUTATING: Absent()}, SHIPPED.namespace),
}


@pytest.mark.parametrize(("answers", "namespace"), HOMES.values(), ids=HOMES.keys())
def test_the_config_map_is_where_the_registration_leads(answers: Answers, namespace: str) -> None:
    """So an installation in a namespace of another name is found without being told."""
    assert list(needs({})) == [questions.MUTATING]
    there = questions.config_map(namespace, SHIPPED.config_map)
    deployment = questions.deployment(replace(SHIPPED, namespace=namespace))
    assert list(needs(answers)) == [questions.MUTATING, there, deployment]
    text = yaml.safe_dump({**HEAD, "certificates": {"namespace": namespace}})
    found = {**answers, there: Found({"data": {"configuration.yaml": text}})}
    configuration, source = installed(found)
    assert source.name == f"ConfigMap {namespace}/kueue-steps-config"
    assert configuration.certificates.namespace == namespace


PROBLEMS = {
    "an unknown key": (yaml.safe_dump({**HEAD, "log": {"levl": 1}}), "log.levl: unknown key"),
    "no YAML": ("a: [", "can't be read as YAML"),
    "nothing": ("", "must hold one Configuration object"),
    "a text in the place of a section": (yaml.safe_dump({**HEAD, "log": "loud"}), "log: "),
    "null in the place of a section": (yaml.safe_dump({**HEAD, "log": None}), "log: "),
}


@pytest.mark.parametrize(("text", "words"), PROBLEMS.values(), ids=PROBLEMS.keys())
def test_a_bad_config_map_is_named_and_the_defaults_are_used(text: str, words: str) -> None:
    """The message has the ConfigMap's name, not that of a file of ours."""
    configuration, source = installed(_answers(text, KUEUE_STEPS_LOG__LEVEL="info"))
    assert configuration.policy == Policy()
    assert words in source.problem
    assert "/tmp" not in source.problem  # noqa: S108 - it is looked for, not used


def test_a_variable_that_is_no_yaml_is_named() -> None:
    """It is a text then, which its key does not take."""
    _, source = installed(_answers(yaml.safe_dump(HEAD), KUEUE_STEPS_LOG__LEVEL="[a"))
    assert "log.level" in source.problem


def test_a_config_map_that_is_not_there_or_not_readable_is_told_apart() -> None:
    """Nothing there may be as it should; what can't be read can't be told."""
    assert installed({CONFIG_MAP: Absent()})[1].is_missing
    assert installed({CONFIG_MAP: Unreadable("forbidden")})[1].unread == "forbidden"


def test_a_given_file_is_examined_under_its_own_name(tmp_path: Path) -> None:
    """With --config."""
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump({**HEAD, "foo": 1}))
    _, source = given(path)
    assert source.name == str(path)
    assert "foo: unknown key" in source.problem
