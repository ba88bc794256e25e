"""Ends simulated pods when a test has seen enough, so that none races with how long they run."""

from localcluster.kwok import FAIL, RUN_FOR
from tests.stack.team import Team, eventually


def end_the_pod(team: Team, job: str, *, failed: bool = False) -> None:
    """Let the Pod that runs now, or will soon, end at once."""
    name = team.await_running(job)
    team.cluster.kubectl(
        *("annotate", "pod", name, "-n", team.namespace, "--overwrite"),
        *(f"{RUN_FOR}=0s", f"{FAIL}={str(failed).lower()}"),
    )
    eventually(lambda: team.running_pod(job) != name, f"Pod {name} ends")
