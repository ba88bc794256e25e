"""Look at a namespace ten times a second, on the clock that only goes forward."""

import time
from collections.abc import Collection, Iterator

from localcluster.demo.client import Client
from localcluster.demo.meter import Sample
from localcluster.demo.scene import Scene
from localcluster.demo.trace import KUEUE, TRAINER

# A look costs 7 ms of processor time. From a reservation to the first pod it often takes no more
# than 0.2 s, so that looking less often would show it as nothing.
EVERY_SECONDS = 0.1


def scenes(client: Client, namespace: str) -> Iterator[Scene]:
    """One look after the other, for ever; a slow answer delays the next look but skips none."""
    due = time.monotonic()
    while True:
        yield look(client, namespace)
        due = max(due + EVERY_SECONDS, time.monotonic())
        time.sleep(max(0.0, due - time.monotonic()))


def look(client: Client, namespace: str) -> Scene:
    """The namespace as it is now."""
    return Scene(
        at=time.monotonic(),
        trainjobs=client.list(TRAINER, "trainjobs", namespace),
        workloads=client.list(KUEUE, "workloads", namespace),
        jobs=client.list("batch/v1", "jobs", namespace),
        pods=client.list("v1", "pods", namespace),
    )


def sample(scene: Scene, trainjobs: Collection[str]) -> Sample:
    """What the meter needs of a scene."""
    is_over = all(scene.is_done(name) for name in trainjobs)
    return Sample(scene.at, scene.reserved(), scene.used(), is_over)
