"""One control plane for all workers of a test run: started by the first that needs it.

Tests run side by side in namespaces of their own. One that touches what is shared (Kueue's
configuration, a component that is killed) is marked `alone` and waits until no other runs.
"""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from localcluster import webhook
from localcluster.cluster import Cluster, Options
from tests.stack.objects import FLAVOR

RUN: Final = "KUEUE_STEPS_TEST_RUN"
"""Environment variable with the folder of this run; the workers inherit it."""

RUNNING: Final = "LOCALCLUSTER_STATE"
"""Environment variable with the state folder of a control plane that `make up` started."""

OPTIONS: Final = Options(nodes=6)


def begin() -> None:
    """Makes the folder of the run; called once, before any worker starts."""
    os.environ[RUN] = tempfile.mkdtemp(prefix="kueue-steps-tests-")


def end(*, failed: bool) -> None:
    """Ends what any worker started; the logs of a failed run stay."""
    folder = Path(os.environ.pop(RUN))
    if (folder / "cluster").exists():
        Cluster(folder / "cluster").down()
    if failed and (folder / "cluster").exists():
        print(f"the control plane's logs are in {folder / 'cluster' / 'logs'}")  # noqa: T201
    else:
        shutil.rmtree(folder)


def control_plane() -> Cluster:
    """The control plane with our webhook, built and started if need be."""
    if running := os.environ.get(RUNNING):
        cluster = Cluster(Path(running))
        cluster.apply([FLAVOR])
        return cluster
    folder = Path(os.environ[RUN])
    cluster = Cluster(folder / "cluster")
    with _locked(folder / "start", fcntl.LOCK_EX):
        if (folder / "failed").exists():
            raise RuntimeError("another worker could not start the control plane; see its error")
        if not cluster.is_up():
            _start(cluster, folder)
    return cluster


@contextmanager
def turn(*, alone: bool) -> Iterator[None]:
    """Holds off those that need the control plane for themselves, or all others."""
    with _locked(Path(os.environ[RUN]) / "turn", fcntl.LOCK_EX if alone else fcntl.LOCK_SH):
        yield


def _start(cluster: Cluster, folder: Path) -> None:
    try:
        cluster.up(OPTIONS)
        webhook.install_or_end(cluster)
        cluster.apply([FLAVOR])
    except BaseException:
        (folder / "failed").touch()
        raise


@contextmanager
def _locked(path: Path, how: int) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, how)
        yield
