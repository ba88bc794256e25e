"""The configuration that is examined: a given file, or what the installed server runs with.

The installed one is the ConfigMap's file with the variables of the Deployment's container on it,
which win over the file as they do in the Pod. Both are where the registration leads.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import yaml
from pydantic.alias_generators import to_camel

from webhook import settings
from webhook.cluster.survey import Answers, Question
from webhook.doctor import hooks, questions
from webhook.doctor.case import Source
from webhook.doctor.place import SHIPPED, Place
from webhook.rules.facts import Absent, Answer, Found, Unreadable

FILE: Final = "configuration.yaml"

Read = tuple[settings.Configuration, Source]


def given(path: Path) -> Read:
    """What the file says, else the defaults and what is wrong with the file."""
    return _loaded(lambda: settings.load(path), str(path))


def needs(answers: Answers) -> Iterator[Question]:
    """What to read of the cluster to know the installed one."""
    yield questions.MUTATING
    if questions.MUTATING in answers:
        home = _home(answers)
        yield questions.config_map(home.namespace, home.config_map)
        yield questions.deployment(home)


def installed(answers: Answers) -> Read:
    """What the cluster says, else the defaults and why."""
    home = _home(answers)
    name = f"ConfigMap {home.namespace}/{home.config_map}"
    match answers.get(questions.config_map(home.namespace, home.config_map), Absent()):
        case Found(content):
            text = (content.get("data") or {}).get(FILE) or ""
            environment = _environment(answers.get(questions.deployment(home)))
            return _loaded(lambda: settings.parsed(_overlaid(text, environment), name), name)
        case Unreadable(why):
            return settings.load(None), Source(name, unread=why)
        case Absent():
            return settings.load(None), Source(name, is_missing=True)


def _home(answers: Answers) -> Place:
    """In the one namespace that the registration of the shipped name leads to."""
    match answers.get(questions.MUTATING):
        case Found(content):
            ours = [i for i in content["items"] if i["metadata"]["name"] == SHIPPED.mutating]
        case _:
            ours = []
    spaces = {space for item in ours for space, _ in hooks.services(item)}
    return replace(SHIPPED, namespace=spaces.pop()) if len(spaces) == 1 else SHIPPED


def _loaded(load: Callable[[], settings.Configuration], name: str) -> Read:
    try:
        return load(), Source(name)
    except settings.BadConfiguration as error:
        problem = " ".join(str(error).split()).rstrip(".")
        return settings.load(None), Source(name, problem)


def _environment(deployment: Answer | None) -> dict[str, str]:
    """Our variables of the Deployment's container; those that come from elsewhere are unknown."""
    match deployment:
        case Found(content):
            containers = content["spec"]["template"]["spec"].get("containers") or ()
        case _:
            return {}
    variables = [one for container in containers for one in container.get("env") or ()]
    return {
        one["name"].removeprefix(settings.PREFIX): one["value"]
        for one in variables
        if one["name"].startswith(settings.PREFIX) and "value" in one
    }


def _overlaid(text: str, environment: Mapping[str, str]) -> str:
    """The file with <SECTION>__<KEY> variables on it; a file that is no mapping stays as it is."""
    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError:
        return text
    if not isinstance(content, dict) or not environment:
        return text
    for name, value in environment.items():
        _put(content, [to_camel(part.lower()) for part in name.split("__")], _value(value))
    return yaml.safe_dump(content)


def _put(content: dict[str, Any], path: list[str], value: Any) -> None:
    """Into the sections that there are; what stands in a section's place is not hidden."""
    *sections, key = path
    for section in sections:
        below = content.setdefault(section, {})
        if not isinstance(below, dict):
            return
        content = below
    content[key] = value


def _value(text: str) -> Any:
    """A variable's value as YAML, or as text where it is none."""
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        return text
