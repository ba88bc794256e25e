"""One review over HTTP, as a bare ASGI application.

FastAPI serves it, but does not parse for it: a body model there halves the throughput, and its
422 is no answer that an API server understands.
"""

from collections.abc import Awaitable, Callable
from time import perf_counter
from typing import Protocol, TypeAlias

from starlette.types import Receive, Scope, Send

from webhook.http import body
from webhook.rules import review
from webhook.rules.errors import BadReview
from webhook.rules.review import Request
from webhook.rules.verdict import Verdict

Decide: TypeAlias = Callable[[Request], Awaitable[Verdict]]


class Observer(Protocol):
    """Told of each call once, after it was answered."""

    def reviewed(self, path: str, request: Request, verdict: Verdict, seconds: float) -> None:
        """A review was decided in this many seconds."""
        ...

    def refused(self, path: str, error: BadReview) -> None:
        """A call was malformed."""
        ...

    def failed(self, path: str, error: Exception) -> None:
        """A bug: the call was answered with 500."""
        ...


class Endpoint:
    """An ASGI application that answers POSTed AdmissionReviews."""

    def __init__(self, path: str, decide: Decide, observer: Observer) -> None:
        self.path = path
        self._decide = decide
        self._observer = observer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Reads, decides, answers and reports one review."""
        started = perf_counter()
        try:
            request = review.read(await body.read(scope, receive))
            verdict = await self._decide(request)
            answer = review.write(request, verdict)
        except BadReview as error:
            await _respond(send, error.code, b"text/plain; charset=utf-8", f"{error}\n".encode())
            self._observer.refused(self.path, error)
        except Exception as error:  # noqa: BLE001 - a bug must never look like "allowed"
            await _respond(send, 500, b"text/plain; charset=utf-8", _INTERNAL_ERROR)
            self._observer.failed(self.path, error)
        else:
            await _respond(send, 200, b"application/json", answer)
            self._observer.reviewed(self.path, request, verdict, perf_counter() - started)


_INTERNAL_ERROR = b"kueue-steps failed to decide this review; its log says why.\n"


async def _respond(send: Send, status: int, media_type: bytes, content: bytes) -> None:
    headers = [(b"content-type", media_type), (b"content-length", b"%d" % len(content))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": content})
