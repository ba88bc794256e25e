"""docs/reference/cases.md: what people really submit, the right answer, and the tests that hold it.

A test names its case by its number, in its name or its docstring.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from docsite.tables import code, page, table

ROOT: Final = Path(__file__).resolve().parents[1]
TESTS: Final = ROOT / "tests"

REPOSITORIES: Final[Mapping[str, str]] = {
    "jobset": "kubernetes-sigs/jobset",
    "k/k": "kubernetes/kubernetes",
    "kueue": "kubernetes-sigs/kueue",
    "trainer": "kubeflow/trainer",
    "tekton-kueue": "tektoncd/tekton-kueue",
    "uvicorn": "Kludex/uvicorn",
}
"""Where the issues are that a thread such as `kueue#3884` names."""

INTRODUCTION: Final = """\
Field cases from public threads, each with the answer that is right and the tests that hold it. A
case stands for its whole kind. Its number is stable, and tests name it: `C05` is the case that
kueue-steps was written for. What *stepped* and *whole* mean is told in
[step or whole](../concepts/step-or-whole.md), and *held* in
[how it works](../concepts/how-it-works.md).
"""


@dataclass(frozen=True, slots=True)
class Case:
    """What happens to people today, what is right, and where they tell of it."""

    today: str
    right: str
    threads: str


CASES: Final[Mapping[str, Mapping[str, Case]]] = {
    "Suspend": {
        "C01": Case(
            "JobSet resumes a Job that Kueue holds; Kueue stops it again, for ever",
            "JobSet's write passes, but the Job stays as it is stored. Kueue's start passes",
            "kueue#4251 jobset#1172 kueue#2612",
        ),
        "C03": Case(
            "A user pauses a running JobSet or TrainJob, and Kueue undoes it",
            "The pause holds, the step's quota goes to others, and comes back with the resume",
            "jobset#788 kueue#6915 kueue#1091",
        ),
        "C04": Case(
            "Pods of a new Job run for a moment before it is held",
            "The first version of the Job that is stored is suspended already",
            "kueue#757",
        ),
    },
    "TrainJobs": {
        "C05": Case(
            "GPUs stand reserved while data is downloaded",
            "Each step has a Workload of its own, that of the GPUs when the downloads are complete",
            "kueue#3884 jobset#680",
        ),
        "C06": Case(
            "Labels of a TrainJob never reach its JobSet",
            "Queue, priority class and time limit are on every step; a step's own ones win",
            "trainer#2660 trainer#2784",
        ),
        "C07": Case(
            "A Trainer without runtimePatches drops the labels, and nothing ever starts",
            "The queue comes from the TrainJob when its JobSet is created, or that is refused",
            "kueue#11931 kueue#14886",
        ),
        "C09": Case(
            "Manifests that say suspend: true, and Trainer applying its JobSet again",
            "Both parents are stored running; replicatedJobs leave an update as they are stored",
            "kueue#8228 trainer#3008 trainer#3387",
        ),
        "C11": Case(
            "A deadline also counts the time in the queue",
            "The field stays as it is, with a warning; deletes of held Jobs pass",
            "trainer#3258 jobset#1186",
        ),
    },
    "Jobs": {
        "C12": Case(
            "Partial admission and elastic Jobs",
            "Sizes that Kueue or JobSet write pass; their annotations are not copied to steps",
            "kueue#3140 kueue#820 jobset#463 kueue#5528",
        ),
        "C13": Case(
            "Jobs and JobSets of other owners, or that only look like a JobSet's",
            "No patch, whatever their labels say",
            "kueue#1846 kueue#561 kueue#4264 k/k#50850",
        ),
    },
    "Queues and priority": {
        "C16": Case(
            "Kueue is set up so that steps are not admitted apart",
            "Parents stay whole, nothing is held without Kueue's batch/job, and the log and doctor "
            "say so",
            "kueue#7649 kueue#4824 kueue#5260",
        ),
        "C17": Case(
            "Bad values that nobody checks once they are in a template",
            "Refused at the parent by Kueue's own rule; a queue as an annotation is warned of",
            "kueue#570",
        ),
        "C19": Case(
            "Labels are changed on an update",
            "Stepping begins at creation only; another queue is refused in clear words",
            "kueue#5451 kueue#8320 kueue#4967 kueue#12594",
        ),
    },
    "Operating the webhook": {
        "C21": Case(
            "A webhook that is down keeps a cluster from starting",
            "Plain Jobs are never sent to us, and no namespace of the system is",
            "kueue#12724 kueue#5244",
        ),
        "C22": Case(
            "A certificate is renewed, and the server goes on with the old one",
            "New handshakes get the new one without a restart; old and new authority overlap",
            "uvicorn#829",
        ),
        "C23": Case(
            "A busy API server lets reviews time out",
            "Look-ups are bounded, and a failed one leads to the safe answer",
            "tekton-kueue#539",
        ),
        "C24": Case(
            "Patches that lose what they should not touch",
            "A map is added only where there is none; applied, the patch gives the wanted object",
            "k/k#90623",
        ),
        "C26": Case(
            "The same manifest comes again: by hand, by GitOps, as a dry run",
            "It is taken and changes nothing that is stored",
            "k/k#129960 k/k#96688",
        ),
        "C32": Case(
            "The webhook is called twice, or fed what it wrote",
            "The second call changes nothing; a restored copy is stepped again",
            "kueue#8271",
        ),
    },
    "Readiness, topology, restarts": {
        "C28": Case(
            "waitForPodsReady counts pods of steps that are not there yet",
            "Each step counts its own pods, and is evicted alone",
            "kueue#6796 kueue#7889",
        ),
        "C29": Case(
            "A restart makes all Jobs anew under their old names",
            "Each new Job is held anew, with a Workload of its own",
            "jobset#1129 kueue#9940 trainer#3737",
        ),
        "C31": Case(
            "Pods that have to be placed together",
            "Steps of one podset group stay whole, with a warning; one step's topology passes",
            "kueue#11953 kueue#5895 jobset#1021",
        ),
    },
}


def markdown() -> str:
    """The page."""
    named = naming_files()
    head = ("case", "today", "right", "told in", "tests")
    groups = [
        f"## {group}\n\n"
        + table(head, (_row(number, case, named.get(number, [])) for number, case in cases.items()))
        for group, cases in CASES.items()
    ]
    return page("Field cases", "docsite/cases.py and tests", INTRODUCTION, *groups)


def naming_files(folder: Path = TESTS) -> dict[str, list[str]]:
    """The test files that name each case, in the order of their paths."""
    found: dict[str, list[str]] = {}
    for path in sorted(folder.rglob("test_*.py")):
        for number in sorted(set(_numbers(path.read_text()))):
            found.setdefault(number, []).append(path.relative_to(folder).as_posix())
    return found


def _numbers(text: str) -> Iterator[str]:
    return (found[1].upper() for found in re.finditer(r"(?<![A-Za-z0-9])([Cc]\d\d)(?![0-9])", text))


def _row(number: str, case: Case, files: list[str]) -> tuple[str, ...]:
    return number, case.today, case.right, _links(case.threads), code(*files)


def _links(threads: str) -> str:
    return ", ".join(f"[{thread}]({_address(thread)})" for thread in threads.split())


def _address(thread: str) -> str:
    repository, _, number = thread.partition("#")
    return f"https://github.com/{REPOSITORIES[repository]}/issues/{number}"
