"""docs/reference/cli.md: each command of `kueue-steps` as click itself would tell it."""

from inspect import cleandoc
from typing import Final

import click

from docsite.tables import code, page
from webhook import cli

INTRODUCTION: Final = """\
The same program is the kubectl plugin `kubectl kueue-steps`, where `kubectl-kueue_steps` is on the
path.

{exits}
"""


def markdown() -> str:
    """The page."""
    root = click.Context(cli.main, info_name="kueue-steps", **cli.main.context_settings)
    exits = (cli.__doc__ or "").partition(". ")[2].strip()
    return page(
        "The command `kueue-steps`",
        "webhook/cli.py",
        INTRODUCTION.format(exits=exits),
        *(_command(name, command, root) for name, command in cli.main.commands.items()),
    )


def _command(name: str, command: click.Command, root: click.Context) -> str:
    context = click.Context(command, info_name=name, parent=root)
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    records = (parameter.get_help_record(context) for parameter in command.get_params(context))
    items = (_item(names, meaning) for names, meaning in filter(None, records))
    return "\n\n".join(
        [
            f"## {context.command_path}",
            cleandoc(command.help or ""),
            f"```text\n{usage}\n```",
            "\n".join(items),
            *filter(None, [command.epilog]),
        ]
    )


def _item(names: str, meaning: str) -> str:
    words = " ".join(meaning.split())
    return f"- {code(names)}: {words}" if words else f"- {code(names)}"
