"""Where the demo's control plane lives, and what becomes of it in the end."""

import shlex
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import yaml
from rich.console import Console

from localcluster.cluster import Cluster
from localcluster.demo import trace
from localcluster.demo.play import Demo
from localcluster.errors import LocalClusterError, StateRefused
from localcluster.modules import PROJECT_ROOT

Say = Callable[[str], None]


def run(*, report_to: Path | None, say: Say) -> bool:
    """Play the demo on a control plane of its own that is gone afterwards; did it show all?"""
    with passing(say) as cluster:
        return Demo(cluster, Console()).run(report_to).has_shown_all


def run_and_keep(cluster: Cluster, *, report_to: Path | None) -> bool:
    """Play the demo and leave the control plane up, unless the demo breaks off."""
    if cluster.is_up():
        raise StateRefused(
            f"a control plane is up in {cluster.state_dir} already: end it with "
            f"`{_down(cluster)}`, or run the demo without keeping, in a folder of its own"
        )
    with ExitStack() as on_exit:
        cluster.up()
        on_exit.callback(cluster.down)
        console = Console()
        has_shown_all = Demo(cluster, console).run(report_to).has_shown_all
        console.out(how_to_go_on(cluster), highlight=False)
        on_exit.pop_all()
    return has_shown_all


def how_to_go_on(cluster: Cluster) -> str:
    """The commands with which anyone goes on by hand."""
    example = cluster.state_dir / "trainjob.yaml"
    example.write_text(yaml.safe_dump(trace.another_trainjob()))
    return f"""
The control plane stays up, with the webhook and all that was played. To use it:
  export KUBECONFIG={_quoted(cluster.kubeconfig())}
  export PATH={_quoted(cluster.bin_dir)}:"$PATH"
Two commands to try:
  kubectl get workloads -A   # one per TrainJob in whole, one per step in stepped
  kubectl create -f {_quoted(example)} && kubectl get jobs -n stepped --watch
To end it:
  {_down(cluster)}"""


@contextmanager
def passing(say: Say) -> Iterator[Cluster]:
    """A control plane in a folder of its own, gone afterwards; the logs of a failure stay."""
    folder = Path(tempfile.mkdtemp(prefix="kueue-steps-demo-"))
    with ExitStack() as on_exit:
        on_exit.callback(shutil.rmtree, folder)
        try:
            with Cluster(folder, say=say).running() as cluster:
                yield cluster
        except LocalClusterError:
            say(f"the logs are left in {folder / 'logs'}")
            on_exit.pop_all()
            raise


def _down(cluster: Cluster) -> str:
    usual = cluster.state_dir == PROJECT_ROOT / ".localcluster"
    return "make down" if usual else f"make down STATE={_quoted(cluster.state_dir)}"


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))
