"""Runs `kueue-steps steps` as a person would."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from click.testing import CliRunner

from localcluster.cluster import Cluster
from tests.stack.objects import Object, cluster_queue, training_runtime, trainjob
from tests.stack.team import Team, eventually
from webhook.cli import main

PROGRAM: Final = (sys.executable, "-m", "webhook", "steps")


@dataclass(frozen=True)
class Shown:
    """What the command printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Object:
        """Its JSON."""
        assert self.code == 0, self.err
        found: Object = json.loads(self.out)
        return found


def command(cluster: Cluster, *arguments: str, user: str = "alice") -> list[str]:
    """The command line of a user."""
    return [*PROGRAM, "--kubeconfig", str(cluster.kubeconfig(user)), *arguments]


def run(cluster: Cluster, *arguments: str, user: str = "alice") -> Shown:
    """What the command prints for a user; called in this process, since it is called often."""
    line = command(cluster, *arguments, user=user)
    found = CliRunner().invoke(main, line[len(PROGRAM) - 1 :], catch_exceptions=False)
    return Shown(found.exit_code, found.stdout, found.stderr)


@dataclass(frozen=True)
class View:
    """One parent of a team, shown by the command."""

    team: Team
    name: str

    def text(self) -> str:
        """The table."""
        shown = run(self.team.cluster, self.name, "-n", self.team.namespace)
        assert (shown.code, shown.err) == (0, "")
        return shown.out

    def parent(self) -> Object:
        """The parent in JSON."""
        shown = run(self.team.cluster, self.name, "-n", self.team.namespace, "-o", "json")
        [parent] = shown.document["parents"]
        return dict(parent)

    def step(self, name: str) -> Object:
        """A step of it in JSON."""
        return dict(next(one for one in self.parent()["steps"] if one["name"] == name))

    def line(self, name: str) -> str:
        """A step's line in the table."""
        return next(line for line in self.text().splitlines() if line[3:].startswith(f"{name} "))

    def await_state(self, name: str, state: str) -> Object:
        """A step in JSON, as soon as it is in this state."""

        def look() -> Object | None:
            found = self.step(name)
            return found if found["state"] == state else None

        return eventually(look, f"step {name} is {state}")

    def await_parent(self, state: str) -> Object:
        """The parent in JSON, as soon as it is in this state."""

        def look() -> Object | None:
            found = self.parent()
            return found if found["state"] == state else None

        return eventually(look, f"{self.name} is {state}")


def submitted(team: Team, **more: Any) -> View:
    """A TrainJob `tune` of alice, whose last step wants eight GPUs; `more` is metadata."""
    times = {"download": "2s", "train": "20s"} | more.pop("times", {})
    team.apply([training_runtime("steps", team.namespace, gpus=8, **times)])
    item = trainjob("tune", team.namespace, team.label)
    item["metadata"] |= more
    team.submit(item)
    eventually(lambda: team.find("jobsets", "tune"), "the JobSet")
    return View(team, "tune")


def quota(team: Team, *, gpus: int = 8, cpus: int = 64, **spec: Any) -> None:
    """Give the team another quota, and its ClusterQueue other settings."""
    queue = cluster_queue(team.namespace, gpus=gpus, cpus=cpus)
    queue["spec"] |= spec
    team.cluster.apply([queue])


@contextmanager
def cleared(new_team: Callable[..., Team]) -> Iterator[Callable[..., Team]]:
    """Makes teams, and deletes their TrainJobs and JobSets at the end of the block."""
    teams = list[Team]()

    def create(**options: int) -> Team:
        teams.append(new_team(**options))
        return teams[-1]

    try:
        yield create
    finally:
        for team in teams:
            where = ("-n", team.namespace, "--wait=false")
            team.cluster.kubectl("delete", "trainjobs,jobsets", "--all", *where)
