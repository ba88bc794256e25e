"""The floor: our listener, TLS and application around answers that cost nothing to find.

A program of its own (`python -m bench.latency.floor`), so that it can be pinned, measured and ended
as the server is. What our server takes longer than this is the price of reading and deciding.
"""

import json
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from pathlib import Path
from typing import Any, Final, TypeAlias

import click
import uvloop

from localcluster.layout import HOST
from webhook.http.app import MUTATE_PATH, AdmissionApp
from webhook.http.listener import Listener
from webhook.http.tls import LiveTls
from webhook.pki.mint import Pair

Message: TypeAlias = MutableMapping[str, Any]

READY_PATH: Final = "/readyz"


class Fixed:
    """An ASGI application that takes a whole body and looks at none of it.

    The query of the URL says which of the answers is given.
    """

    def __init__(self, answers: Mapping[bytes, bytes]) -> None:
        self._answers = answers

    async def __call__(
        self,
        scope: Message,
        receive: Callable[[], Awaitable[Message]],
        send: Callable[[Message], Awaitable[None]],
    ) -> None:
        """Answers one request."""
        while (await receive()).get("more_body", False):
            pass
        answer = self._answers[scope["query_string"]]
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(answer)),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": answer})


@click.command()
@click.option("--answers", type=click.Path(path_type=Path), required=True, help="JSON by query.")
@click.option("--certificate", type=click.Path(path_type=Path), required=True)
@click.option("--key", type=click.Path(path_type=Path), required=True)
@click.option("--port", type=int, required=True)
def main(answers: Path, certificate: Path, key: Path, port: int) -> None:
    """Serve until killed."""
    texts: dict[str, str] = json.loads(answers.read_text())
    tls = LiveTls()
    tls.load(Pair(certificate.read_bytes(), key.read_bytes()))
    fixed = Fixed({query.encode(): text.encode() for query, text in texts.items()})
    app = AdmissionApp({MUTATE_PATH: fixed})
    app.add_api_route(READY_PATH, lambda: "ok")
    uvloop.run(Listener(app, HOST, port, tls=tls.context).run_until_stopped())


if __name__ == "__main__":
    main()
