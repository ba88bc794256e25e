"""A play as lines of text, one for each change: for logs and pipes. Pure."""

from collections.abc import Iterator

from localcluster.demo.frame import Frame


class Lines:
    """Compares each frame with the one before; the first is from before the submission."""

    def __init__(self) -> None:
        self._said: set[str] | None = None

    def of(self, frame: Frame) -> list[str]:
        """The lines that this frame is worth."""
        facts = list(_facts(frame))
        said, self._said = self._said, set(facts)
        if said is None:
            return ["", frame.lane.title, _stamped(frame, _all_to_come(frame))]
        return [_stamped(frame, fact) for fact in facts if fact not in said]


def _facts(frame: Frame) -> Iterator[str]:
    for trainjob, states in frame.steps.items():
        for step, state in states.items():
            yield f"{trainjob} > {step}: {state}"
    yield f"GPUs: {frame.reserved} reserved, {frame.used} really used, of {frame.quota}"


def _all_to_come(frame: Frame) -> str:
    steps = dict.fromkeys(step for states in frame.steps.values() for step in states)
    return f"{', '.join(frame.steps)} > {', '.join(steps)}: not created yet"


def _stamped(frame: Frame, fact: str) -> str:
    return f"[{frame.lane.namespace} {frame.seconds:5.1f} s] {fact}"
