"""Where one control plane keeps its things: its folder, its ports, its binaries.

Everything that a later run has to know is in `state.json`, written once at the start.
"""

import json
import random
import socket
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from localcluster.errors import StateRefused

HOST = "127.0.0.1"
PORTS = range(20000, 32000)


@dataclass(frozen=True)
class Ports:
    """One free port for each listener."""

    etcd: int
    etcd_peer: int
    api: int
    controller_manager: int
    scheduler: int
    kueue: int
    kueue_health: int
    kueue_metrics: int
    jobset: int
    jobset_health: int
    jobset_metrics: int
    trainer: int
    trainer_health: int
    trainer_metrics: int
    trainer_status: int
    kwok: int


def free_ports() -> Ports:
    """A port for each listener."""
    return Ports(*unused(len(fields(Ports))))


def unused(count: int) -> list[int]:
    """Ports that nobody listens on; all are held while choosing, so that none is given twice.

    They lie below the range that the kernel takes for outgoing connections: a component that is
    killed and started again must find its port free.
    """
    with ExitStack() as held:
        chosen: list[int] = []
        for port in random.sample(PORTS, len(PORTS)):
            if len(chosen) == count:
                break
            listener = held.enter_context(socket.socket())
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with suppress(OSError):
                listener.bind((HOST, port))
                chosen.append(port)
        return chosen


@dataclass(frozen=True)
class Layout:
    """The folder of one control plane, and what was chosen for it when it was started."""

    root: Path
    ports: Ports
    bin_dir: Path
    modules: dict[str, Path]

    @property
    def api_url(self) -> str:
        """Where the API server listens."""
        return f"https://{HOST}:{self.ports.api}"

    @property
    def authority(self) -> Path:
        """The certificate that signs every other one of this control plane."""
        return self.root / "pki" / "ca.crt"

    @property
    def audit_log(self) -> Path:
        """The API server's audit log, one JSON object a line."""
        return self.root / "audit.jsonl"

    def kubeconfig(self, user: str) -> Path:
        """The kubeconfig of a user, whether it exists or not."""
        return self.root / "kubeconfigs" / f"{user}.yaml"

    def folder(self, *parts: str) -> Path:
        """A folder below the root, made if missing."""
        folder = self.root.joinpath(*parts)
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def save(self) -> None:
        """Write state.json."""
        state: dict[str, Any] = {
            "ports": asdict(self.ports),
            "bin_dir": str(self.bin_dir),
            "modules": {module: str(folder) for module, folder in self.modules.items()},
        }
        state_file(self.root).write_text(json.dumps(state, indent=1))


def load_layout(root: Path) -> Layout:
    """Read state.json; StateRefused if no control plane was ever started here."""
    try:
        state = json.loads(state_file(root).read_text())
    except FileNotFoundError:
        raise StateRefused(f"{root} holds no control plane: `up` makes one") from None
    modules = {module: Path(folder) for module, folder in state["modules"].items()}
    return Layout(root, Ports(**state["ports"]), Path(state["bin_dir"]), modules)


def state_file(root: Path) -> Path:
    """The file that says what a control plane was started with."""
    return root / "state.json"
