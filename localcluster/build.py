"""Build a module's binaries once, and keep them in a cache that is only ever complete.

A build goes into a folder of its own that is renamed when it is done: an interrupted build is never
taken for a finished one. A file lock makes a second build wait for the first. A finished
build is only read, so that one user's cache can serve another.
"""

import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from localcluster.errors import BuildFailed
from localcluster.modules import MODULE_ROOT, WITH_MANIFESTS, linker_flags, read_go_mod
from localcluster.progress import progress
from localcluster.toolchain import Go, find_go

Say = Callable[[str], None]


@dataclass(frozen=True)
class Plan:
    """What to build: the `tool` lines of a module, and how its people call that.

    `renamed` gives binaries whose main package has too plain a name another one.
    """

    what: str
    minutes: str
    module: Path
    flags: str
    renamed: Mapping[str, str] = field(default_factory=dict)


def control_plane() -> Plan:
    """The nine binaries of the control plane; etcd's main package is called `server`."""
    return Plan(
        what="the control plane",
        minutes="8 to 10",
        module=MODULE_ROOT,
        flags=linker_flags(read_go_mod().versions),
        renamed={"server": "etcd"},
    )


def build(plan: Plan | None = None, *, say: Say) -> Path:
    """Return the folder that holds the binaries, building them if they are not there yet."""
    plan = plan or control_plane()
    go = replace(find_go(read_go_mod(plan.module), say=say), module=plan.module)
    target = cache_root() / cache_key(plan.module, go.version)
    if target.is_dir():
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _locked(target.with_suffix(".lock"), say):
            if not target.is_dir():
                _build_into(target, plan, go, say)
    except PermissionError as error:
        raise BuildFailed(f"{error}: name a cache of your own in LOCALCLUSTER_CACHE") from error
    return target


def module_folders(*, say: Say) -> dict[str, Path]:
    """Where the module cache keeps the modules whose manifests are read, by module path."""
    go = find_go(read_go_mod(), say=say)
    folders = _listed(go)
    if not all(folders.values()):
        say("downloading the upstream manifests")
        go.output("mod", "download", *WITH_MANIFESTS)
        folders = _listed(go)
    return {module: Path(folder) for module, folder in folders.items()}


def cache_root() -> Path:
    """Where builds are kept: $LOCALCLUSTER_CACHE, else beneath the user's cache folder."""
    if own := os.environ.get("LOCALCLUSTER_CACHE"):
        return Path(own).absolute()
    caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(caches).absolute() / "kueue-steps" / "localcluster"


def cache_key(module: Path, go_version: str) -> str:
    """A name that changes with anything that could change the binaries."""
    digest = hashlib.sha256(go_version.encode())
    for name in ("go.mod", "go.sum"):
        digest.update(hashlib.sha256((module / name).read_bytes()).digest())
    return digest.hexdigest()[:32]


def _listed(go: Go) -> dict[str, str]:
    lines = go.output("list", "-m", "-f", "{{.Path}} {{.Dir}}", *WITH_MANIFESTS).splitlines()
    return {module: folder for module, _, folder in (line.partition(" ") for line in lines)}


def _build_into(target: Path, plan: Plan, go: Go, say: Say) -> None:
    for abandoned in target.parent.glob(f"{target.name}.partial-*"):
        shutil.rmtree(abandoned)
    partial = Path(tempfile.mkdtemp(prefix=f"{target.name}.partial-", dir=target.parent))
    try:
        _compile(partial, plan, go, say)
        partial.chmod(0o755)
        partial.rename(target)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _compile(folder: Path, plan: Plan, go: Go, say: Say) -> None:
    say(f"building {plan.what} with {go.version}, once ({plan.minutes} minutes on two cores)")
    with progress("downloading modules", total=None, say=say) as advance:
        packages = go.output("list", "-deps", "tool", on_line=lambda _: advance())
    with progress("compiling, then linking", total=len(packages.splitlines()), say=say) as advance:
        arguments = ("-v", "-ldflags", plan.flags, "-o", f"{folder}/", "tool")
        go.output("build", *arguments, on_line=lambda _: advance())
    for name, better in plan.renamed.items():
        (folder / name).rename(folder / better)
    say("built")


@contextmanager
def _locked(path: Path, say: Say) -> Iterator[None]:
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another build is running: waiting for it")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
