"""`python -m localcluster`: up, down, status, kubeconfig, demo, build."""

import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import NoReturn

import click
from rich.console import Console
from rich.table import Table

from localcluster import webhook
from localcluster.build import build as build_binaries
from localcluster.cluster import Cluster
from localcluster.demo import session
from localcluster.errors import LocalClusterError
from localcluster.modules import PROJECT_ROOT
from localcluster.options import Options

DEFAULT = Options()
FINDING = 1


class Commands(click.Group):
    """Shows our own errors as a message, and nothing else."""

    def invoke(self, context: click.Context) -> object:
        """Run the command; an error of ours becomes a message and exit code 1."""
        try:
            return super().invoke(context)
        except LocalClusterError as error:
            raise click.ClickException(str(error)) from error


@click.group(cls=Commands)
@click.option(
    "--state",
    type=click.Path(file_okay=False, path_type=Path),
    envvar="LOCALCLUSTER_STATE",
    default=PROJECT_ROOT / ".localcluster",
    show_default=".localcluster beside this package",
    help="Folder of the control plane. [env: LOCALCLUSTER_STATE]",
)
@click.pass_context
def main(context: click.Context, state: Path) -> None:
    """A real Kubernetes control plane with Kueue, JobSet and Trainer; no containers."""
    signal.signal(signal.SIGINT, _interrupt)
    signal.signal(signal.SIGTERM, _interrupt)
    context.obj = Cluster(state, say=_since_start())


@main.command()
@click.option(
    "--kueue-frameworks",
    envvar="KUEUE_FRAMEWORKS",
    default=",".join(DEFAULT.frameworks),
    show_default=True,
    help="Kueue's integrations.frameworks, comma-separated. [env: KUEUE_FRAMEWORKS]",
)
@click.option(
    "--kueue-manage-all",
    envvar="KUEUE_MANAGE_ALL",
    is_flag=True,
    help="Kueue's manageJobsWithoutQueueName. [env: KUEUE_MANAGE_ALL=1]",
)
@click.option("--nodes", default=DEFAULT.nodes, show_default=True, help="Nodes of eight GPUs.")
@click.option("--webhook/--no-webhook", "with_webhook", default=True, help="Install our webhook.")
@click.pass_obj
def up(
    cluster: Cluster,
    *,
    kueue_frameworks: str,
    kueue_manage_all: bool,
    nodes: int,
    with_webhook: bool,
) -> None:
    """Start the control plane with the webhook, building it first if need be."""
    frameworks = tuple(name.strip() for name in kueue_frameworks.split(",") if name.strip())
    cluster.up(Options(frameworks=frameworks, manage_all=kueue_manage_all, nodes=nodes))
    if with_webhook:
        webhook.install_or_end(cluster)
    click.echo(f"export KUBECONFIG={cluster.kubeconfig()}")
    click.echo(f'export PATH={cluster.bin_dir}:"$PATH"')


@main.command()
@click.pass_obj
def down(cluster: Cluster) -> None:
    """End everything that `up` started."""
    cluster.down()


@main.command()
@click.pass_obj
def status(cluster: Cluster) -> None:
    """Show each process; exit code 1 unless all are ready."""
    processes = cluster.status()
    table = Table("component", "pid", "state", "ready URL", "log", box=None)
    for process in processes:
        table.add_row(process.name, str(process.pid), process.state, process.url, str(process.log))
    # Without a terminal, rich would cut the lines at 80 characters.
    width = None if sys.stdout.isatty() else 200
    Console(width=width).print(table if processes else f"{cluster.state_dir}: nothing is running")
    if not processes or any(process.state != "ready" for process in processes):
        sys.exit(FINDING)


@main.command()
@click.option("--user", default="admin", show_default=True, help="admin or alice.")
@click.pass_obj
def kubeconfig(cluster: Cluster, user: str) -> None:
    """Print the path of a user's kubeconfig."""
    path = cluster.kubeconfig(user)
    if not path.exists():
        raise click.ClickException(f"there is no user {user!r} in {cluster.state_dir}")
    click.echo(path)


@main.command()
@click.option(
    "--report",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="Also write the table there, as JSON.",
)
@click.option("--keep", is_flag=True, help="Leave the control plane up, in the state folder.")
@click.pass_obj
def demo(cluster: Cluster, *, report: Path | None, keep: bool) -> None:
    """Play TrainJobs whole and stepped, and compare; exit code 1 unless stepping pays."""
    signal.signal(signal.SIGINT, _interrupt)
    signal.signal(signal.SIGTERM, _interrupt)
    if keep:
        shown = session.run_and_keep(cluster, report_to=report)
    else:
        shown = session.run(report_to=report, say=_since_start())
    sys.exit(0 if shown else FINDING)


@main.command()
def build() -> None:
    """Build the binaries if they are not in the cache, and print their folder."""
    click.echo(build_binaries(say=_since_start()))


def _since_start() -> Callable[[str], None]:
    start = time.monotonic()

    def say(line: str) -> None:
        click.echo(f"[{time.monotonic() - start:6.1f} s] {line}", err=True)

    return say


def _interrupt(_number: int, _frame: FrameType | None) -> NoReturn:
    # Once is enough: a second one must not cut the cleaning up short.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise KeyboardInterrupt
