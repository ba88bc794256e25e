"""One parent, previewed: what becomes of it and why, its steps, and what changes in it."""

from dataclasses import dataclass
from typing import Final

from webhook.http.admission import Admission, Misses
from webhook.preview import defaulting, derived, steps
from webhook.preview.answers import Answer, asked, request_of
from webhook.preview.changes import difference
from webhook.preview.documents import Document
from webhook.preview.explanations import EXPLANATIONS, Outcome
from webhook.preview.known import Known, described
from webhook.preview.steps import Row
from webhook.rules import admit, names
from webhook.rules.facts import Absent, Found, Key, Unreadable, found
from webhook.rules.objects import Runtime
from webhook.rules.policy import Policy
from webhook.rules.reasons import Reason
from webhook.rules.trainjob import RUNTIME_PLURALS

PATCHES: Final = "spec.runtimePatches are not put into the steps that are shown"
NO_RUNTIME: Final = (
    "spec.runtimeRef names no TrainingRuntime and no ClusterTrainingRuntime of "
    f"{names.TRAINER_GROUP}: Trainer would refuse it"
)
BLIND: Final = "this is what a server would do that can't read the runtime either"


@dataclass(frozen=True, slots=True)
class Work:
    """The steps that are known. `source` is what they were derived from, where it is no JobSet."""

    rows: tuple[Row, ...] = ()
    source: str = ""
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Judgement:
    """A parent, the answer to its creation, and its steps."""

    document: Document
    namespace: str
    answer: Answer
    work: Work
    notes: tuple[str, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """What becomes of it."""
        return _outcome(self.answer)

    @property
    def explanation(self) -> str:
        """Why, in a sentence."""
        return EXPLANATIONS[self.answer.reason][1]

    @property
    def diff(self) -> list[str]:
        """What changes in the object."""
        return difference(self.document.content, self.answer.after)

    @property
    def is_finding(self) -> bool:
        """Whether it, or what is made of it, would be refused, or that can't be told."""
        return self.answer.denial is not None or bool(self.work.problems)


@dataclass(frozen=True, slots=True)
class Judge:
    """The rules with what is known, for one parent after the other."""

    known: Known
    policy: Policy
    misses: Misses
    namespace: str

    async def judge(self, document: Document) -> Judgement:
        """What the server would make of a parent that is created."""
        namespace, reviewed, notes = document.namespace(self.namespace), document, tuple[str, ...]()
        answer = await self._asked(document, namespace)
        if answer.reason is Reason.NOT_QUEUED and await defaulting.is_defaulted(
            document.kind, namespace, self.known, self.policy
        ):
            reviewed, notes = defaulting.defaulted(document), (defaulting.NOTE,)
            answer = await self._asked(reviewed, namespace)
        work = await self._work(reviewed, namespace, answer)
        return Judgement(document, namespace, answer, work, notes)

    async def _asked(self, document: Document, namespace: str) -> Answer:
        admission = Admission(self.known, self.policy, self.misses)
        return await asked(request_of(document, namespace), document.content, admission)

    async def _work(self, document: Document, namespace: str, answer: Answer) -> Work:
        if answer.denial is not None:
            return Work()
        try:
            if document.kind == "TrainJob":
                return await self._trainjob(document, namespace, answer)
            return Work(steps.rows(steps.steps_of(answer.after), _queue(answer)))
        except steps.Misshapen as error:
            return Work(problems=(f"its steps can't be read: {error}",))

    async def _trainjob(self, document: Document, namespace: str, answer: Answer) -> Work:
        if (key := self._runtime_key(document, namespace)) is None:
            is_taken = _outcome(answer) in {Outcome.STEP, Outcome.WHOLE}
            return Work(problems=(NO_RUNTIME,) if is_taken else ())
        told = self.known.answers.get(key)
        if isinstance(told, Absent):
            return Work(problems=(f"{described(key)} does not exist: Trainer would refuse it",))
        if isinstance(told, Unreadable):
            notes = (BLIND,) if answer.reason is Reason.WHOLE_RUNTIME_UNREADABLE else ()
            return Work(problems=(f"{described(key)} can't be read: {told.why}",), notes=notes)
        if not isinstance(told, Found) or found({key: told}, key, Runtime) is None:
            return Work(problems=(f"{described(key)} is not of its kind's shape",))
        jobset = derived.jobset_of(document, told.content, namespace)
        made = jobset.content
        if _outcome(answer) is Outcome.STEP:
            reviewed = await self._reviewed(jobset, document, namespace, answer)
            if reviewed.denial is not None:
                refused = f"the JobSet that Trainer makes of it would be refused: {reviewed.denial}"
                return Work(problems=(refused,))
            made = reviewed.after
        listed = steps.steps_of_trainjob(document.content, told.content, made)
        notes = (PATCHES,) if document.content["spec"].get("runtimePatches") else ()
        return Work(steps.rows(listed, _queue(answer)), described(key), notes=notes)

    async def _reviewed(
        self, jobset: Document, trainjob: Document, namespace: str, answer: Answer
    ) -> Answer:
        owner = derived.owner_key(trainjob, namespace)
        stored = derived.Stored(answer.after, owner, self.known)
        admission = Admission(stored, self.policy, self.misses)
        return await asked(request_of(jobset, namespace), jobset.content, admission)

    def _runtime_key(self, document: Document, namespace: str) -> Key | None:
        needed = admit.needs(request_of(document, namespace), {}, self.policy)
        return next((key for key in needed if key.plural in RUNTIME_PLURALS.values()), None)


def _outcome(answer: Answer) -> Outcome:
    return Outcome.REFUSED if answer.denial is not None else EXPLANATIONS[answer.reason][0]


def _queue(answer: Answer) -> str | None:
    """The queue of a whole parent, empty where it has none; None where each step has its own."""
    match _outcome(answer):
        case Outcome.STEP:
            return None
        case Outcome.WHOLE:
            return str(answer.after["metadata"]["labels"][names.QUEUE])
        case _:
            return ""
