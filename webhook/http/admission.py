"""Between the endpoint and the rules: lets a rule decide, and reads what it misses before that."""

import asyncio
from typing import Any, Final, Protocol

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
        """The verdict of the mutating webhook.

        Rules are pure, so one that missed nothing has decided; else it decides again. To ask first
        costs as much as to decide, and nearly always all of it is at hand. A denial may come before
        a rule has asked for everything, so that it does not tell whether that was too much.
        """
        facts = AtHand(self._reader)
        verdict = admit.mutate(request, facts, self._policy)
        if facts.are_enough and verdict.denial is None:
            return verdict
        return admit.mutate(request, await self._complete(facts, request), self._policy)

    async def validate(self, request: Request) -> Verdict:
        """The verdict of the validating webhook."""
        return admit.validate(request, self._policy)

    async def _complete(self, facts: "AtHand", request: Request) -> Facts:
        """Everything that the rules ask for; one answer may lead to the next question."""
        while keys := admit.needs(request, facts, self._policy):
            if len(facts) + len(keys) > MOST_READS:
                return self._too_many(keys[0])
            answers = await asyncio.gather(*(self._reader.read(key) for key in keys))
            for key, answer in zip(keys, answers, strict=True):
                facts[key] = answer
                if isinstance(answer, Unreadable):
                    self._misses.unreadable(key, answer.why)
        return facts if len(facts) <= MOST_READS else self._too_many(next(iter(facts)))

    def _too_many(self, key: Key) -> Facts:
        """The same for every replica, whatever it has at hand."""
        self._misses.unreadable(key, TOO_MANY.why)
        return NothingRead()


class AtHand(dict[Key, Answer]):
    """Facts of one review, with whatever the reader has at hand: it costs no round, and no task.

    The rules ask with `get` and `in`.
    """

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._is_missing = False

    @property
    def are_enough(self) -> bool:
        """Whether every question so far had its answer, and there were not too many."""
        return not self._is_missing and len(self) <= MOST_READS

    def __contains__(self, key: object) -> bool:
        """Whether the answer is known now."""
        return isinstance(key, Key) and self.get(key) is not None

    def get(self, key: Key, default: Any = None) -> Any:
        """The answer. What was at hand once stays so for this review."""
        if (answer := super().get(key)) is None:
            if (answer := self._reader.at_hand(key)) is None:
                self._is_missing = True
                return default
            self[key] = answer
        return answer


class NothingRead(dict[Key, Answer]):
    """Facts of a review that asks for too much: nothing could be read."""

    def __contains__(self, _key: object) -> bool:
        """Every question has its answer."""
        return True

    def get(self, _key: Key, _default: Any = None) -> Any:
        """The answer to any."""
        return TOO_MANY
