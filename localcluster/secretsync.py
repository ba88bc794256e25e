"""Keep a Secret's content in a folder, as the kubelet does for a pod that mounts it.

A process of its own (`python -m localcluster.secretsync`), because Kueue rotates its certificates
for as long as the control plane lives, and `up` is long gone by then.
"""

import base64
import json
import ssl
import time
import urllib.request
from http.client import HTTPException
from pathlib import Path

import click
import yaml

POLL_SECONDS = 0.5
ANSWER_SECONDS = 5.0


class Secret:
    """One Secret, read with a kubeconfig as identity.py writes it."""

    def __init__(self, kubeconfig: Path, namespace: str, name: str) -> None:
        config = yaml.safe_load(kubeconfig.read_text())
        cluster = config["clusters"][0]["cluster"]
        context = ssl.create_default_context(cafile=cluster["certificate-authority"])
        self._opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context)
        )
        self._request = urllib.request.Request(  # noqa: S310 - a kubeconfig of ours
            f"{cluster['server']}/api/v1/namespaces/{namespace}/secrets/{name}",
            headers={"Authorization": f"Bearer {config['users'][0]['user']['token']}"},
        )

    def files(self) -> dict[str, bytes]:
        """Its content by file name; empty while it can't be read."""
        try:
            with self._opener.open(self._request, timeout=ANSWER_SECONDS) as answer:
                data = json.load(answer).get("data") or {}
        except (OSError, HTTPException, ValueError) as problem:  # The API server may be killed.
            click.echo(f"cannot read the Secret: {problem}")
            return {}
        return {name: base64.b64decode(value) for name, value in data.items()}


def write(files: dict[str, bytes], folder: Path) -> list[str]:
    """Write those that differ, each at once, and return their names.

    tls.crt comes last: Kueue takes its presence for the presence of all.
    """
    in_order = sorted(files, key="tls.crt".__eq__)
    changed = [name for name in in_order if _differs(folder / name, files)]
    for name in changed:
        draft = folder / f".{name}"
        draft.write_bytes(files[name])
        draft.replace(folder / name)
    return changed


def _differs(path: Path, files: dict[str, bytes]) -> bool:
    return not path.exists() or path.read_bytes() != files[path.name]


@click.command()
@click.option("--kubeconfig", type=click.Path(path_type=Path), required=True)
@click.option("--namespace", required=True)
@click.option("--secret", required=True)
@click.option("--to", "folder", type=click.Path(path_type=Path), required=True)
def main(kubeconfig: Path, namespace: str, secret: str, folder: Path) -> None:
    """Copy until killed."""
    folder.mkdir(parents=True, exist_ok=True)
    source = Secret(kubeconfig, namespace, secret)
    while True:
        if changed := write(source.files(), folder):
            click.echo(f"wrote {', '.join(changed)}")
        time.sleep(POLL_SECONDS)


if __name__ == "__main__":
    main()
