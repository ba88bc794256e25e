"""The record of a run: every play, and what it was measured with and on."""

from typing import Final

import msgspec

from bench.environment import Environment
from bench.growth.objects import Mode
from bench.records import Records


class Reviews(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Calls of our webhooks. Milliseconds: by the API server's clock, and by our server's own.

    The API server counts in few and wide classes; `p99` lies in proportion between two bounds.
    """

    calls: int
    mean: float
    p99: float
    own_p99: float


class Admissions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Workloads that Kueue admitted.

    `seconds` is from the first submission to the last admission, `wait` the median from a
    Workload's creation to its admission; both to the second, as Kueue writes them down.
    """

    count: int
    seconds: float
    wait: float

    @property
    def per_second(self) -> float:
        """On average, while there was anything to admit."""
        return self.count / max(self.seconds, 1.0)


class Run(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One play: `size` TrainJobs, of which so many finished.

    `creating` is the seconds until the last was created, `seconds` until all were done. `writes`
    are those that the API server accepted, by resource. `cpu` is seconds by process, and memory
    that of our server in MiB, at the end and at most. `busy` is the share of all CPUs that anything
    took, `load` the average over a minute, before.
    """

    mode: Mode
    size: int
    repeat: int
    finished: int
    creating: float
    seconds: float
    admissions: Admissions
    reviews: Reviews
    writes: dict[str, int]
    cpu: dict[str, float]
    memory: float
    memory_peak: float
    busy: float
    load: float

    @property
    def all_writes(self) -> int:
        """Of every resource."""
        return sum(self.writes.values())


class Conditions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How it was measured; `limits` are those of the controllers' clients.

    `wanted` are the sizes that were asked for: the largest may have been cut.
    """

    environment: Environment
    limits: str
    nodes: int
    wanted: list[int]


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole run."""

    conditions: Conditions
    runs: list[Run]


_FILES: Final = Records(Record, "mode")
read, write = _FILES.read, _FILES.write
