"""Self-managed certificates on the real API server (C22): minted, published, mended, renewed.

Each test has an installation of its own, so that it can spoil what is its own.
"""

import base64
import json
import secrets
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import httpx
import pytest

from localcluster import webhook
from localcluster.cluster import Cluster
from localcluster.connection import arguments
from localcluster.fleet import Fleet
from localcluster.kubectl import Kubectl
from localcluster.layout import HOST, load_layout, unused
from localcluster.webhook import NAMESPACE, Installation
from tests.stack.objects import Object, named
from tests.stack.team import Team, eventually
from webhook.pki import trust

KINDS = ("mutatingwebhookconfiguration", "validatingwebhookconfiguration")
STALE_SECONDS = 0.5
FIELD_MANAGER = "kueue-steps-certificates"
GRACE = {"CERTIFICATES__PUBLICATION_GRACE": "3s"}
"""In which a busy API server too hears of a new bundle."""


@dataclass(frozen=True)
class Own:
    """An installation of a test's own, for its team's namespace."""

    team: Team
    installation: Installation
    http: httpx.Client

    @property
    def cluster(self) -> Cluster:
        """The control plane."""
        return self.team.cluster

    @property
    def dns_name(self) -> str:
        """What API servers verify."""
        return f"{self.installation.service}.{NAMESPACE}.svc"

    def registrations(self) -> list[Object]:
        """Both of them."""
        name, group = self.installation.registration, "/apis/admissionregistration.k8s.io/v1"
        answers = [self.http.get(f"{group}/{kind}s/{name}") for kind in KINDS]
        return [answer.raise_for_status().json() for answer in answers]

    def bundles(self) -> set[bytes]:
        """What the entries carry."""
        return {
            base64.b64decode(entry["clientConfig"].get("caBundle") or "")
            for item in self.registrations()
            for entry in item["webhooks"]
        }

    def port(self) -> int:
        """Where its first replica serves."""
        (item, _) = self.registrations()
        port: int = item["webhooks"][0]["clientConfig"]["service"]["port"]
        return port

    def secret(self) -> Object | None:
        """Its Secret."""
        items = self.cluster.get("secret", namespace=NAMESPACE)["items"]
        name = self.installation.secret
        return next((item for item in items if item["metadata"]["name"] == name), None)

    def is_verified(self, port: int, bundle: bytes) -> bool:
        """Does a strict client that trusts the bundle get through a handshake?"""
        if not bundle:
            return False
        context = ssl.create_default_context(cadata=bundle.decode())
        with socket.create_connection((HOST, port)) as connection:
            try:
                with context.wrap_socket(connection, server_hostname=self.dns_name):
                    return True
            except ssl.SSLError:
                return False

    def carries_one_good_bundle(self) -> bool:
        """Do all entries carry the same bundle, and does it verify what is served?"""
        bundles = self.bundles()
        return len(bundles) == 1 and b"" not in bundles and self.is_verified(self.port(), *bundles)

    def create(self) -> str:
        """Create a step's Job, dry: the API server calls us; its complaint, or nothing."""
        job = named("Job", "batch/v1", "step", self.team.namespace)
        job["metadata"]["labels"] = {"kueue-steps.io/queue-name": self.team.queue}
        pod = {"restartPolicy": "Never", "containers": [{"name": "a", "image": "a"}]}
        job["spec"] = {"suspend": True, "template": {"spec": pod}}
        path = f"/apis/batch/v1/namespaces/{self.team.namespace}/jobs?dryRun=All"
        answer = self.http.post(path, json=job)
        return answer.text if answer.is_error else ""

    def steps(self) -> list[str]:
        """What its log says of certificates."""
        return [entry["step"] for entry in self._log("certificate")]

    def reviews(self) -> int:
        """How many reviews it answered."""
        return len(self._log("review"))

    def _log(self, event: str) -> list[dict[str, Any]]:
        path = self.cluster.state_dir / "logs" / f"{self.installation.name}.log"
        lines = path.read_text().rpartition("\n")[0].splitlines()
        entries = [json.loads(line) for line in lines if line.startswith("{")]
        return [entry for entry in entries if entry["event"] == event]


@dataclass
class Load:
    """Creates, and handshakes as of API servers that connect anew, until it is told to stop."""

    own: Own
    port: int
    count: int = 0
    handshakes: int = 0
    complaints: list[str] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def running(self) -> Iterator["Load"]:
        """In the background during the block; at its end nothing may have failed."""
        with ThreadPoolExecutor() as threads:
            work = [threads.submit(self._create), threads.submit(self._connect)]
            try:
                yield self
            finally:
                self.over.set()
        for part in work:
            part.result()
        assert self.complaints == []
        assert self.count > 0
        eventually(lambda: self.own.reviews() >= self.count, "each create was reviewed")
        assert self.handshakes > 0

    def _create(self) -> None:
        while not self.over.wait(0.02):
            if complaint := self.own.create():
                self.complaints.append(complaint)
            self.count += 1

    def _connect(self) -> None:
        while not self.over.wait(0.001):
            began = time.monotonic()
            verified = [self.own.is_verified(self.port, item) for item in self.own.bundles()]
            # A bundle of long ago may be none any more.
            if not all(verified) and time.monotonic() - began < STALE_SECONDS:
                self.complaints.append("a published bundle does not verify what is served")
            self.handshakes += 1


@pytest.fixture
def http(cluster: Cluster) -> Iterator[httpx.Client]:
    """An open connection to the API server."""
    with httpx.Client(**arguments(cluster.kubeconfig())) as client:
        yield client


@contextmanager
def installed(team: Team, http: httpx.Client, **settings: str) -> Iterator[Own]:
    """An installation, ready, for the length of the block."""
    installation = Installation.beside(f"cert-{secrets.token_hex(3)}", team.namespace, **settings)
    try:
        webhook.install(team.cluster, installation)
        yield Own(team, installation, http)
    finally:
        webhook.uninstall(team.cluster, installation)


@pytest.fixture
def own(team: Team, http: httpx.Client) -> Iterator[Own]:
    """An installation with the shipped lifetimes."""
    with installed(team, http) as own:
        yield own


def test_c22_a_ready_installation_is_verified_by_what_it_published(own: Own) -> None:
    """C22: nobody but the server made its pair and its caBundle, and a create goes through."""
    assert own.carries_one_good_bundle()
    assert own.create() == ""
    eventually(lambda: own.reviews() >= 1, "it was reviewed")
    assert own.steps().count("minted") == 1


def test_c22_only_the_ca_bundle_of_each_entry_is_owned(own: Own) -> None:
    """C22: the server's field manager owns names and caBundles, the rest is the user's."""
    for item in _with_managers(own):
        (fields,) = (
            entry["fieldsV1"]["f:webhooks"]
            for entry in item["metadata"]["managedFields"]
            if entry["manager"] == FIELD_MANAGER
        )
        assert set(fields) == {f'k:{{"name":"{entry["name"]}"}}' for entry in item["webhooks"]}
        assert all(
            set(owned) <= {".", "f:name", "f:clientConfig"}
            and owned["f:clientConfig"] == {"f:caBundle": {}}
            for owned in fields.values()
        )


def test_c22_a_user_who_applies_the_manifests_again_takes_nothing_away(own: Own) -> None:
    """C22: the bundle stands after another apply, and nothing is written."""
    before = own.bundles()
    objects = webhook.manifests(load_layout(own.cluster.state_dir), own.port(), own.installation)
    with Load(own, own.port()).running():
        own.cluster.apply(objects)
    assert own.bundles() == before
    assert own.steps().count("bundle published") == len(KINDS)


@pytest.mark.parametrize("bundle", ["", "foreign"])
def test_c22_a_spoilt_ca_bundle_comes_back(own: Own, bundle: str) -> None:
    """C22: wiped or replaced by somebody else's authority, in one entry or in all."""
    before = own.bundles()
    others = _versions_of_others(own)
    foreign = own.cluster.authority.read_bytes() if bundle else b""
    encoded = base64.b64encode(foreign).decode()
    for kind in KINDS:
        patch = [
            {"op": "replace", "path": "/webhooks/0/clientConfig/caBundle", "value": encoded},
        ]
        own.cluster.kubectl(
            *("patch", kind, own.installation.registration),
            *("--type=json", "-p", json.dumps(patch)),
        )
    eventually(lambda: own.bundles() == before, "the bundle came back")
    eventually(lambda: own.create() == "", "creates go through again")
    assert _versions_of_others(own) == others


SPOILT: dict[str, tuple[str, ...]] = {
    "deleted": ("delete", "secret"),
    "rubbish": ("patch", "secret", "--type=merge", "-p", '{"data": {"tls.key": "cnViYmlzaA=="}}'),
}


@pytest.mark.parametrize("command", SPOILT.values(), ids=SPOILT.keys())
def test_c22_a_spoilt_secret_is_made_anew_and_no_create_fails(
    team: Team, http: httpx.Client, command: tuple[str, ...]
) -> None:
    """C22: a new authority beside the old one, then a leaf of it, under a steady load."""
    verb, kind, *rest = command
    with installed(team, http, **GRACE) as own:
        assert own.secret()
        (old,) = trust.certificates(own.bundles().pop())
        with Load(own, own.port()).running():
            own.cluster.kubectl(verb, kind, own.installation.secret, "-n", NAMESPACE, *rest)
            switched = "switched to the new authority"
            eventually(lambda: switched in own.steps(), "the new leaf is served")
            eventually(own.carries_one_good_bundle, "the bundle verifies it")
        bundle = trust.certificates(own.bundles().pop())
    assert len(bundle) == 2
    assert old in bundle


def test_c22_certificates_change_every_few_seconds_and_no_create_fails(
    team: Team, http: httpx.Client
) -> None:
    """C22: leaves of eighteen seconds, authorities of 24; every handshake is verified.

    A leaf is left three seconds after its authority is renewed, and good for eight.
    """
    lives = GRACE | {
        "CERTIFICATES__LEAF_LIFETIME": "18s",
        "CERTIFICATES__AUTHORITY_LIFETIME": "24s",
        "CERTIFICATES__CHECK_INTERVAL": "1s",
    }
    with installed(team, http, **lives) as own, Load(own, own.port()).running():
        renewed = "authority renewed"
        eventually(lambda: own.steps().count(renewed) >= 3, "three authorities", within=120)
    assert "authority dropped" in own.steps()


def test_c22_replicas_that_start_together_agree_on_one_authority(
    team: Team, http: httpx.Client
) -> None:
    """C22: three at once where no Secret is; one authority survives and all serve its leaf."""
    installation = Installation.beside(f"cert-{secrets.token_hex(3)}", team.namespace)
    own = Own(team, installation, http)
    layout = load_layout(team.cluster.state_dir)
    ports = [unused(2) for _ in range(3)]
    text = webhook.configuration(Kubectl(layout).render(webhook.BASE))
    fleet = Fleet(layout)
    try:
        team.cluster.apply(webhook.manifests(layout, ports[0][0], installation))
        started = [
            fleet.begin(
                replace(
                    webhook.component(layout, text, *pair, installation=installation),
                    name=f"{installation.name}-{number}",
                )
            )
            for number, pair in enumerate(ports)
        ]
        fleet.wait(*started)
        (bundle,) = own.bundles()
        assert len(trust.certificates(bundle)) == 1
        assert all(own.is_verified(port, bundle) for port, _ in ports)
    finally:
        webhook.uninstall(team.cluster, installation)


def test_c22_a_restarted_server_comes_back_with_the_same_authority(own: Own) -> None:
    """C22: what is in the Secret goes on; nothing is minted and nothing written."""
    before, secret = own.bundles(), own.secret()
    own.cluster.restart(own.installation.name)
    assert own.bundles() == before
    assert own.secret() == secret
    assert own.carries_one_good_bundle()


def _with_managers(own: Own) -> list[Object]:
    return [
        json.loads(
            own.cluster.kubectl(
                *("get", kind, own.installation.registration),
                *("-o", "json", "--show-managed-fields"),
            )
        )
        for kind in KINDS
    ]


def _versions_of_others(own: Own) -> dict[str, str]:
    """The versions of Kueue's registrations."""
    return {
        item["metadata"]["name"] + kind: item["metadata"]["resourceVersion"]
        for kind in KINDS
        for item in own.cluster.get(kind)["items"]
        if item["metadata"]["name"].startswith("kueue-")
    }
