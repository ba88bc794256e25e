"""The load generator: vegeta, built from its Go module, with every single answer kept.

A closed loop asks again as soon as it is answered. An open loop asks at its own rate, whatever the
answers do, and counts the wait for a free connection: nothing is left out of its latencies.
"""

import os
import resource
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from bench.errors import Unmeasured
from bench.latency.errors import WrongAnswer
from localcluster.build import Plan, Say, build

MODULE: Final = Path(__file__).resolve().parent / "vegeta"
PLAN: Final = Plan(what="vegeta", minutes="1", module=MODULE, flags="-s -w")
VEGETA: Final = "github.com/tsenart/vegeta/v12"
WAIT_SECONDS: Final = 60
"""For the answers to what was asked; servers that are too slow are so, and not failing."""

HEADERS: Final = {
    "Accept": "application/json, */*",
    "Content-Type": "application/json",
    "User-Agent": "kube-apiserver-admission",
}
"""What API servers send with a review."""


@dataclass(frozen=True)
class Target:
    """A URL, the file with the body to post there, and the uid that its answer has to carry."""

    url: str
    body: Path
    uid: str


@dataclass(frozen=True)
class Load:
    """For so many seconds on so many connections; `rate` is per second, None for a closed loop."""

    connections: int
    seconds: float
    rate: int | None = None


class Volley(NamedTuple):
    """All requests of one load, and the CPU time that asking took the generator.

    A review is denied here where a server could not look something up in time.
    """

    shots: list["Shot"]
    denied: int
    generator_seconds: float


class Shot(msgspec.Struct, frozen=True):
    """One request as vegeta saw it; `latency` is in nanoseconds."""

    code: int
    timestamp: datetime
    latency: int
    error: str
    body: bytes


def binary(*, say: Say) -> Path:
    """The load generator, which is built first if need be."""
    return build(PLAN, say=say) / "vegeta"


def arguments(load: Load, targets: Path, output: Path) -> list[str]:
    """Arguments of `vegeta attack`."""
    workers = load.connections
    return [
        "attack",
        f"-targets={targets}",
        f"-output={output}",
        f"-duration={load.seconds}s",
        f"-rate={load.rate or 0}",
        f"-workers={workers}",
        *(() if load.rate else (f"-max-workers={workers}",)),
        f"-connections={load.connections}",
        f"-max-connections={load.connections}",
        f"-timeout={WAIT_SECONDS}s",
        "-http2=false",
        "-insecure",
    ]


def listing(targets: Sequence[Target]) -> str:
    """What vegeta asks, one after another, in its own format."""
    headers = "".join(f"{name}: {value}\n" for name, value in HEADERS.items())
    return "\n".join(f"POST {item.url}\n{headers}@{item.body}\n" for item in targets)


def fire(vegeta: Path, targets: Sequence[Target], load: Load, folder: Path) -> Volley:
    """Ask, wait for all answers, and return them. Raises Unmeasured and WrongAnswer."""
    asked, answered = folder / "targets", folder / "results"
    asked.write_text(listing(targets))
    before = _children_seconds()
    _run([str(vegeta), *arguments(load, asked, answered)])
    spent = _children_seconds() - before
    shots = [*read(_run([str(vegeta), "encode", str(answered)]))]
    return Volley(shots, denials(shots, [item.uid for item in targets]), spent)


def read(lines: bytes) -> Iterator[Shot]:
    """The results as `vegeta encode` writes them."""
    decoder = msgspec.json.Decoder(Shot)
    return (decoder.decode(line) for line in lines.splitlines())


def denials(shots: Sequence[Shot], uids: Sequence[str]) -> int:
    """How many reviews were denied, of those that were asked in this order, again and again.

    Raises WrongAnswer unless each one got its answer.
    """
    if not shots:
        raise WrongAnswer("not one review was answered")
    asked, counts, denied = Counter(uids), dict.fromkeys(uids, 0), 0
    for shot in shots:
        if shot.error or shot.code != 200:
            raise WrongAnswer(f"HTTP {shot.code} {shot.error}: {shot.body[:200]!r}")
        response = _answer(shot.body)
        if response.uid not in counts:
            raise WrongAnswer(f"not the answer to what was asked: {shot.body[:200]!r}")
        counts[response.uid] += 1
        denied += not response.allowed
    # They are asked in turn, again and again, and all are answered.
    rounds = len(shots) // len(uids)
    if any(not asked[u] * rounds <= n <= asked[u] * (rounds + 1) for u, n in counts.items()):
        raise WrongAnswer(f"answers were given to other reviews: {counts}")
    return denied


class _Response(msgspec.Struct):
    uid: str
    allowed: bool


class _Review(msgspec.Struct):
    response: _Response


_decoder: Final = msgspec.json.Decoder(_Review)


def _answer(body: bytes) -> _Response:
    try:
        return _decoder.decode(body).response
    except msgspec.DecodeError as error:
        raise WrongAnswer(f"not a review: {body[:200]!r}") from error


def _children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _run(command: list[str]) -> bytes:
    environment = {"PATH": os.environ.get("PATH", os.defpath), "GOMAXPROCS": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, check=False)
    if done.returncode:
        raise Unmeasured(f"vegeta failed: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout
