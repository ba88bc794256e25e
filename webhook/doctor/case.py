"""One examination: what was read of the cluster, and what the checks may know beside it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from webhook.cluster.survey import Answers, Question
from webhook.doctor.place import Place
from webhook.rules.facts import Absent, Found, Unreadable
from webhook.rules.policy import Policy


class CantTell(Exception):
    """What a check rests on could not be read; the message says what and why."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where our configuration came from; `problem` is what is wrong with it, `unread` why not read.

    With either, and where it is missing, everything else is examined with the defaults.
    """

    name: str
    problem: str = ""
    unread: str = ""
    is_missing: bool = False


@dataclass(frozen=True, slots=True)
class Case:
    """All that a check is given; `namespace` narrows what users have made, empty for all."""

    answers: Answers
    policy: Policy
    place: Place
    source: Source
    now: datetime
    namespace: str = ""

    def find(self, question: Question) -> Mapping[str, Any] | None:
        """What was found, None where there is no such object. Raises CantTell."""
        match self.answers.get(question, Unreadable("it was not asked for")):
            case Found(content):
                return content
            case Absent():
                return None
            case Unreadable(why):
                raise CantTell(f"{question.path.removeprefix('/')}: {why}")

    def need(self, question: Question) -> Mapping[str, Any]:
        """What was found. Raises CantTell where there is nothing."""
        if (content := self.find(question)) is None:
            raise CantTell(f"{question.path.removeprefix('/')} does not exist")
        return content

    def items(self, question: Question) -> list[Any]:
        """What a list holds; nothing where the kind is not served. Raises CantTell."""
        content = self.find(question)
        return content["items"] if content else []
