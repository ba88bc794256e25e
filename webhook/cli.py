"""The command `kueue-steps`. Exit codes: 0 fine, 1 a finding or a failure, 2 wrong usage."""

import sys
from io import TextIOWrapper
from pathlib import Path
from typing import Final, NoReturn

import click

from webhook import __version__
from webhook.rules.words import escaped, printable

FILE: Final = click.Path(exists=True, dir_okay=False, path_type=Path)
OUTPUT: Final = click.option(
    "-o",
    "--output",
    type=click.Choice(("table", "json", "yaml")),
    default="table",
    show_default=True,
    help="How to print it.",
)
LIVE: Final = (
    "On a terminal it is coloured, and redrawn in place with --watch, where rich is installed (the "
    "extra `terminal`). Elsewhere it is plain text."
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Kueue admits TrainJobs and JobSets one step at a time."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # What the terminal has no character for.


@main.command()
@click.option(
    "--config",
    "path",
    type=FILE,
    help="Configuration file (config.kueue-steps.io/v1alpha1).",
)
@click.option(
    "--kubeconfig",
    type=FILE,
    help="How to reach the API server; in a Pod its ServiceAccount is used.",
)
def serve(path: Path | None, kubeconfig: Path | None) -> None:
    """Run the admission webhook server until SIGTERM."""
    # Imported here, so that `version` and `--help` need not wait for the client library.
    import uvloop  # noqa: PLC0415 - nothing but the server needs it

    from webhook import logs, server, settings  # noqa: PLC0415
    from webhook.cluster.connection import NoCluster  # noqa: PLC0415
    from webhook.pki.mounted import NoFiles  # noqa: PLC0415

    try:
        configuration = settings.load(path)
    except settings.BadConfiguration as error:
        _fail(str(error), 2)
    logs.configure(configuration.log)
    try:
        uvloop.run(server.serve(configuration, kubeconfig))
    except (NoCluster, NoFiles, OSError) as error:
        _fail(printable(f"kueue-steps can't serve: {error}"), 1)


@main.command()
@click.option("-n", "--namespace", default="", help="Queues and steps of this namespace alone.")
@click.option(
    "--config",
    type=FILE,
    help="Configuration file of the server; else the installed one is read from the cluster.",
)
@click.option("--kubeconfig", type=FILE, help="How to reach the API server.")
@OUTPUT
def doctor(namespace: str, config: Path | None, kubeconfig: Path | None, output: str) -> None:
    """Examine the installation, and say what to do; exit code 1 if anything is wrong."""
    from webhook.cluster.connection import NoCluster  # noqa: PLC0415
    from webhook.doctor import command  # noqa: PLC0415

    try:
        outcome = command.doctor(
            kubeconfig=kubeconfig, config=config, namespace=namespace, form=output
        )
    except NoCluster as error:
        _fail(printable(str(error)), 1)
    click.echo(outcome.text)
    sys.exit(outcome.code)


@main.command()
@click.option(
    "-f",
    "--filename",
    "files",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True),
    required=True,
    multiple=True,
    metavar="FILE",
    help="Objects as YAML or JSON, and what they refer to; - is standard input. Repeatable.",
)
@click.option(
    "-n",
    "--namespace",
    default="default",
    show_default=True,
    help="Namespace of objects that name none.",
)
@click.option(
    "--config",
    type=FILE,
    help="Configuration file of the server; else its defaults.",
)
@click.option("--cluster", is_flag=True, help="Look up in the cluster what the files lack.")
@click.option(
    "--kubeconfig",
    type=FILE,
    help="How to reach the API server, with --cluster.",
)
@OUTPUT
def preview(
    files: tuple[str, ...],
    namespace: str,
    config: Path | None,
    cluster: bool,  # noqa: FBT001 - click passes options by name
    kubeconfig: Path | None,
    output: str,
) -> None:
    """Show what the server would make of TrainJobs and JobSets; exit code 1 if it would refuse."""
    from webhook.preview import command  # noqa: PLC0415

    if kubeconfig and not cluster:
        raise click.UsageError("--kubeconfig says how to reach a cluster: add --cluster.")
    look = command.Look(
        files=files,
        stdin=sys.stdin.buffer,
        namespace=namespace,
        config=config,
        cluster=cluster,
        kubeconfig=kubeconfig,
    )
    try:
        report = command.preview(look)
    except command.BadConfiguration as error:
        _fail(str(error), 2)
    except command.BadFile as error:
        _fail(printable(str(error)), 2)
    except command.OutOfSight as error:
        _fail(printable(str(error)), 1)
    click.echo(command.rendered(report, output))
    sys.exit(int(report.is_finding))


@main.command(epilog=LIVE)
@click.argument("name", default="")
@click.option("-n", "--namespace", default="", help="Else the namespace of the context.")
@click.option("-A", "--all-namespaces", "everywhere", is_flag=True, help="Of every namespace.")
@click.option("--all", "unqueued", is_flag=True, help="Those that Kueue does not queue, too.")
@click.option("-w", "--watch", is_flag=True, help="Go on showing it until Ctrl-C.")
@click.option("--kubeconfig", type=FILE, help="How to reach the API server.")
@OUTPUT
def steps(
    name: str,
    namespace: str,
    everywhere: bool,  # noqa: FBT001 - click passes options by name
    unqueued: bool,  # noqa: FBT001
    watch: bool,  # noqa: FBT001
    kubeconfig: Path | None,
    output: str,
) -> None:
    """Show what each step of a TrainJob or JobSet is doing, or what it waits for.

    NAME is a TrainJob's, else a JobSet's; or trainjob/NAME, jobset/NAME. Without it all are shown.
    """
    if name and everywhere:
        raise click.UsageError("A name is one namespace's: leave out -A, or NAME.")
    from webhook.steps import command  # noqa: PLC0415

    try:
        wish = command.wanted(kubeconfig, namespace, name, everywhere=everywhere, unqueued=unqueued)
        command.steps(kubeconfig, wish, output, watch=watch)
    except command.BadName as error:
        _fail(printable(str(error)), 2)
    except (command.NoCluster, command.Unknown) as error:
        _fail(printable(str(error)), 1)


@main.command()
def version() -> None:
    """Print the version."""
    click.echo(__version__)


def _fail(message: str, code: int) -> NoReturn:
    click.echo("\n".join(map(escaped, message.split("\n"))), err=True)
    sys.exit(code)


if __name__ == "__main__":
    main()
