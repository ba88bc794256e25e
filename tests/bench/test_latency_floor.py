"""The floor answers what it was given, over our listener and TLS; wrong answers are told apart."""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bench.latency.contenders import Contender, Side
from bench.latency.errors import WrongAnswer
from bench.latency.keys import kind_of_key
from bench.latency.reviews import Review, Size, What
from bench.latency.session import common_key
from localcluster.layout import HOST, unused
from webhook.pki.files import write_pair
from webhook.pki.mint import mint_authority, mint_leaf

PATIENCE_SECONDS = 60.0


def review(uid: str) -> Review:
    """A review as far as its answer depends on it."""
    request = {
        "uid": uid,
        "resource": {"resource": "jobs"},
        "operation": "CREATE",
        "name": "small-node-0",
        "userInfo": {"username": "alice"},
        "object": {},
    }
    return Review(What.JOB_CREATE, Size.SMALL, json.dumps({"request": request}).encode())


def answer(uid: str, *, allowed: bool = True) -> str:
    """The answer to it."""
    return json.dumps({"response": {"uid": uid, "allowed": allowed}})


@dataclass(frozen=True)
class Floor:
    """A floor that runs."""

    pid: int
    port: int

    def contender(self, query: str) -> Contender:
        """Asked with this query."""
        return Contender(Side.FLOOR, self.pid, self.port, lambda _: f"/mutate?{query}")


def is_open(port: int) -> bool:
    """Does anybody listen there?"""
    with socket.socket() as client:
        return client.connect_ex((HOST, port)) == 0


@pytest.fixture(scope="module")
def floor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Floor]:
    """The program, with two answers."""
    folder, (port,), now = tmp_path_factory.mktemp("floor"), unused(1), datetime.now(UTC)
    pair = mint_leaf(mint_authority("test", now=now), dns_names=["floor"], now=now)
    write_pair(pair, folder / "tls.crt", folder / "tls.key")
    answers = {"0": answer("a"), "1": answer("a", allowed=False)}
    (folder / "answers.json").write_text(json.dumps(answers))
    files = {"answers": "answers.json", "certificate": "tls.crt", "key": "tls.key"}
    options = [f"--{name}={folder / file}" for name, file in files.items()]
    command = [sys.executable, "-m", "bench.latency.floor", *options, f"--port={port}"]
    with subprocess.Popen(command, cwd=Path(__file__).parents[2]) as process:
        try:
            deadline = time.monotonic() + PATIENCE_SECONDS
            while not is_open(port):
                assert time.monotonic() < deadline
                assert process.poll() is None
                time.sleep(0.05)
            yield Floor(process.pid, port)
        finally:
            process.kill()


def test_the_floor_gives_its_answers(floor: Floor) -> None:
    """Whatever the body says."""
    assert floor.contender("0").answer(review("a")) == answer("a").encode()


WRONG = {
    "the answer to another review": ("0", "b"),
    "a denial": ("1", "a"),
    "a query that has no answer": ("9", "a"),
}


@pytest.mark.parametrize("sentence", WRONG)
def test_a_wrong_answer_is_none(floor: Floor, sentence: str) -> None:
    """Before anything is measured."""
    query, uid = WRONG[sentence]
    with pytest.raises(WrongAnswer, match=r"Job CREATE by JobSet, small"):
        floor.contender(query).answer(review(uid))


def test_the_kind_of_a_servers_key_is_seen(floor: Floor) -> None:
    """It has to be the same for all."""
    assert kind_of_key(floor.port) == "secp256r1"
    assert common_key({Side.OURS: floor.contender("0")}) == "secp256r1"
