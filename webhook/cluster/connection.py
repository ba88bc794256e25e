"""The connection to the API server: a Pod's ServiceAccount, or a kubeconfig."""

import asyncio
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import yaml
from kubernetes.aio import client, config
from kubernetes.aio.config import ConfigException

IN_POD: Final = "KUBERNETES_SERVICE_HOST"
RENEWAL_SECONDS: Final = 60.0


class NoCluster(Exception):
    """No usable way to an API server; the message says what was tried."""


@asynccontextmanager
async def connected(
    kubeconfig: Path | None, *, renewal: float = RENEWAL_SECONDS
) -> AsyncGenerator[client.ApiClient, None]:
    """An API client for the length of the block.

    With no kubeconfig given: the ServiceAccount of the Pod, or outside of one the kubeconfig that
    KUBECONFIG names, or ~/.kube/config. A credential that expires is renewed; `renewal` is how many
    seconds lie between two looks at it. Raises NoCluster.
    """
    settings = client.Configuration()
    loader = None
    is_in_pod = kubeconfig is None and IN_POD in os.environ
    files = _files(kubeconfig)
    if not is_in_pod and not any(path.exists() for path in files):
        raise _unknown(f"there is no {' and no '.join(map(str, files))}")
    try:
        if is_in_pod:
            config.load_incluster_config(client_configuration=settings)
        else:
            path = str(kubeconfig) if kubeconfig else None
            loader = await config.load_kube_config(path, client_configuration=settings)
    except (ConfigException, OSError, yaml.YAMLError, TypeError) as error:
        # The loader meets a file that is no mapping with a TypeError.
        raise _unknown(str(error)) from error
    settings.client_session_kwargs = session_options(settings.host)
    async with client.ApiClient(settings) as api, _renewed(loader, settings, renewal):
        yield api


def _unknown(why: str) -> NoCluster:
    return NoCluster(
        f"No API server is known ({why}). Give --kubeconfig, set KUBECONFIG, or run in a Pod."
    )


def _files(kubeconfig: Path | None) -> list[Path]:
    """Where a kubeconfig is looked for, as kubectl does."""
    if kubeconfig:
        return [kubeconfig]
    named = os.environ.get("KUBECONFIG") or "~/.kube/config"
    return [Path(path).expanduser() for path in named.split(os.pathsep) if path]


@asynccontextmanager
async def _renewed(
    loader: Any, settings: client.Configuration, seconds: float
) -> AsyncGenerator[None, None]:
    """Runs a kubeconfig's credential plugin again when what it gave has expired.

    A Pod's token needs no task: the client reads its file anew each minute.
    """
    if loader is None:
        yield
        return
    task = asyncio.create_task(config.refresh_token(loader, settings, seconds))
    try:
        yield
    finally:
        task.cancel()


def session_options(host: str) -> dict[str, Any]:
    """Options for aiohttp: whether a proxy of the environment (HTTPS_PROXY, NO_PROXY) is used.

    Asked once: aiohttp would ask in a thread at each request, and read ~/.netrc too (3.14).
    """
    url = urlsplit(host)
    is_proxied = url.scheme in getproxies() and not proxy_bypass(url.hostname or "")
    return {"trust_env": is_proxied}
