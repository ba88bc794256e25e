"""One review over HTTP, as a bare ASGI application.

FastAPI serves it, but does not parse for it: a body model there halves the throughput, and its
422 is no answer that an API server understands.
"""

from collections.abc import Awaitable, Callable
from time import perf_counter
from typing import Final, Protocol, TypeAlias

from starlette.types import Receive, Scope, Send

from webhook.http import body
from webhook.http.intake import Intake, Overloaded
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

    def overloaded(self, path: str, error: Overloaded) -> None:
        """There was no room for a call: it was answered with 503."""
        ...

    def failed(self, path: str, error: Exception) -> None:
        """A bug: the call was answered with 500."""
        ...


class Endpoint:
    """An ASGI application that answers POSTed AdmissionReviews."""

    def __init__(self, path: str, decide: Decide, observer: Observer, intake: Intake) -> None:
        self.path = path
        self._decide = decide
        self._observer = observer
        self._intake = intake

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Reads, decides, answers and reports one review."""
        started = perf_counter()
        with self._intake.call() as call:
            try:
                within = self._intake.limits.body_seconds
                request = review.read(await body.read(scope, receive, call, within=within))
                call.decide()
                verdict = await self._decide(request)
                answer = review.write(request, verdict)
            except BadReview as error:
                await self._refused(send, error)
            except RecursionError:
                await self._refused(send, BadReview("The object is nested too deeply."))
            except Overloaded as error:
                await _refuse(send, 503, f"{error} Try again in {RETRY_SECONDS} s.\n", _RETRY)
                self._observer.overloaded(self.path, error)
            except Exception as error:  # noqa: BLE001 - a bug must never look like "allowed"
                await _refuse(send, 500, _INTERNAL_ERROR)
                self._observer.failed(self.path, error)
            else:
                await _respond(send, 200, b"application/json", answer)
                self._observer.reviewed(self.path, request, verdict, perf_counter() - started)

    async def _refused(self, send: Send, error: BadReview) -> None:
        await _refuse(send, error.code, f"{error}\n", *_LAST.get(error.code, ()))
        self._observer.refused(self.path, error)


RETRY_SECONDS: Final = 1
"""API servers ask again after this time; it leaves them four attempts in their 5 s."""

Header: TypeAlias = tuple[bytes, bytes]

_RETRY: Final[Header] = (b"retry-after", b"%d" % RETRY_SECONDS)

# The rest of a body that did not come in time would be taken for the next request.
_LAST: Final[dict[int, tuple[Header, ...]]] = {408: ((b"connection", b"close"),)}

_INTERNAL_ERROR: Final = "kueue-steps failed to decide this review; its log says why.\n"


async def _refuse(send: Send, status: int, sentence: str, *headers: Header) -> None:
    await _respond(send, status, b"text/plain; charset=utf-8", sentence.encode(), *headers)


async def _respond(
    send: Send, status: int, media_type: bytes, content: bytes, *more: Header
) -> None:
    headers = [
        (b"content-type", media_type),
        (b"content-length", b"%d" % len(content)),
        *more,
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": content})
