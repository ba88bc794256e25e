"""Between the endpoint and the rules: reads what a rule needs, then lets it decide."""

import asyncio
from typing import Final, Protocol

from webhook.rules import admit
from webhook.rules.facts import Answer, Facts, Key, Reader, Unreadable
from webhook.rules.policy import Policy
from webhook.rules.review import Request
from webhook.rules.verdict import Verdict

MOST_READS: Final = 100
"""Objects that are looked up for one review, whatever it names."""

TOO_MANY: Final = Unreadable(f"one review would look up more than {MOST_READS} objects")


class Misses(Protocol):
    """Told of each look-up that failed."""

    def unreadable(self, key: Key, why: str) -> None:
        """An object that a rule asked for could not be read; the rule took the safe way."""
        ...


class Admission:
    """The rules with a reader for their facts."""

    def __init__(self, reader: Reader, policy: Policy, misses: Misses) -> None:
        self._reader = reader
        self._policy = policy
        self._misses = misses

    async def mutate(self, request: Request) -> Verdict:
        """The verdict of the mutating webhook."""
        return admit.mutate(request, await self._facts(request), self._policy)

    async def validate(self, request: Request) -> Verdict:
        """The verdict of the validating webhook."""
        return admit.validate(request, self._policy)

    async def _facts(self, request: Request) -> Facts:
        """Everything that the rules ask for; one answer may lead to the next question."""
        facts: dict[Key, Answer] = {}
        while keys := admit.needs(request, facts, self._policy):
            if len(facts) + len(keys) > MOST_READS:
                facts |= dict.fromkeys(keys, TOO_MANY)
                self._misses.unreadable(keys[0], TOO_MANY.why)
                continue
            answers = await asyncio.gather(*(self._reader.read(key) for key in keys))
            for key, answer in zip(keys, answers, strict=True):
                facts[key] = answer
                if isinstance(answer, Unreadable):
                    self._misses.unreadable(key, answer.why)
        return facts
