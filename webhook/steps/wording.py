"""Standings in words: what the last column says, amounts, lengths of time."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Final

from webhook.demand.quantities import Amounts, written
from webhook.rules import names
from webhook.steps.tree import Admission, Parent, Standing, State, Step

ACCELERATOR_ENDING: Final = "/gpu"
ACCELERATORS: Final = (
    "aws.amazon.com/neuron",
    "gpu.intel.com/",
    "google.com/tpu",
    "habana.ai/gaudi",
    "huawei.com/Ascend",
    "nvidia.com/mig-",
)
"""What else begins the name of a resource that people call GPUs."""

ADMITTED_AS: Final = {
    Admission.STEP: "step by step",
    Admission.WHOLE: "as a whole (`kueue-steps preview` says why)",
    Admission.NONE: "not queued by Kueue",
}
NOTHING: Final = "-"

_UNITS: Final = (("d", 86400), ("h", 3600), ("m", 60), ("s", 1))


def is_accelerator(resource: str) -> bool:
    """Whether people would call this resource a GPU."""
    return resource.endswith(ACCELERATOR_ENDING) or resource.startswith(ACCELERATORS)


def asked(requests: Amounts) -> str:
    """GPUs and CPUs, GPUs first."""
    shown = [key for key in sorted(requests) if is_accelerator(key)]
    shown += [key for key in ("cpu",) if key in requests]
    return ", ".join(f"{written(requests[key])} {key}" for key in shown) or NOTHING


def length(seconds: int) -> str:
    """The two largest units of a length of time."""
    parts = list[str]()
    for unit, size in _UNITS:
        number, seconds = divmod(seconds, size)
        if number or parts:
            parts.append(f"{number}{unit}")
    return "".join(part for part in parts[:2] if not part.startswith("0")) or "0s"


def moment(when: datetime) -> str:
    """A time as Kubernetes writes it."""
    return f"{when.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def pods(step: Step) -> str:
    """Ready and all of a step that runs, else how many there are to be."""
    runs = step.standing.state is State.RUNNING
    return f"{step.ready}/{step.pods}" if runs else str(step.pods)


def why_step(step: Step) -> str:
    """What a step waits for, or where it is, in a line."""
    if step.standing.state is State.WAITING:
        return f"waits for {', '.join(step.waits_for)}"
    return _why(step.standing)


def why_parent(parent: Parent) -> str:
    """How it is admitted, how far it is, and why it is no further."""
    is_asked_for = parent.record.get(names.MODE) == Admission.WHOLE
    whole = parent.admission is Admission.WHOLE and is_asked_for
    how = f"as a whole ({names.MODE}: whole)" if whole else ADMITTED_AS[parent.admission]
    steps = f"{parent.done} of {len(parent.steps)} steps done" if parent.steps else ""
    deleted = "is being deleted" if parent.is_being_deleted else ""
    is_told_by_steps = parent.admission is Admission.STEP and not parent.standing.message
    why = "" if is_told_by_steps else _why(parent.standing)
    return "; ".join(filter(None, (how, steps, deleted, why)))


def _why(standing: Standing) -> str:
    match standing.state:
        case State.QUEUED:
            return _queued(standing)
        case State.EVICTED:
            return "; ".join(filter(None, (_evicted(standing), _back(standing))))
        case State.FAILED:
            return ": ".join(filter(None, (standing.reason, standing.message)))
        case State.ADMITTED | State.RUNNING:
            return ", ".join(filter(None, (_flavors(standing.flavors), standing.message)))
        case _:
            return standing.message


def _queued(standing: Standing) -> str:
    return ": ".join(filter(None, (", ".join(_turn(standing)), standing.message)))


def _turn(standing: Standing) -> Iterator[str]:
    if standing.since:
        yield f"since {moment(standing.since)}"
    if standing.position:
        yield f"position {standing.position.local} in its queue"
        yield f"{standing.position.cluster} in the ClusterQueue"


def _evicted(standing: Standing) -> str:
    if (eviction := standing.eviction) is None:
        return ""
    says_so = eviction.message.startswith(eviction.reason)
    return eviction.message if says_so else f"{eviction.reason}: {eviction.message}"


def _back(standing: Standing) -> str:
    """What became of it since."""
    turn = ", ".join(_turn(standing))
    return ": ".join(filter(None, (f"queued again {turn}" if turn else "", standing.message)))


def _flavors(flavors: Mapping[str, str]) -> str:
    distinct = dict.fromkeys(flavors.values())
    if len(distinct) <= 1:
        return "".join(f"flavor {flavor}" for flavor in distinct)
    return "flavors " + ", ".join(f"{key}={value}" for key, value in flavors.items())
