"""The two applications: admission (behind TLS) and operations (plain)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from fastapi import FastAPI
from fastapi.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from webhook.http.endpoint import Decide, Endpoint, Observer
from webhook.http.intake import Intake, Limits

Unready: TypeAlias = Callable[[], Sequence[str]]
"""The reasons why this replica should get no reviews now; empty when it is ready."""

Metrics: TypeAlias = Callable[[], bytes]
"""The metrics of this process in Prometheus' text format."""

EXPOSITION = "text/plain; version=0.0.4; charset=utf-8"

MUTATE_PATH = "/mutate"
VALIDATE_PATH = "/validate"

BARE: Final[dict[str, Any]] = {
    "openapi_url": None,
    "docs_url": None,
    "redoc_url": None,
    "redirect_slashes": False,
}
"""No pages and no redirects."""


class AdmissionApp(FastAPI):
    """The application with the way of a review in front of its middlewares.

    They are six frames around each call that have nothing to do for one: an endpoint answers its
    own errors and bounds its own bodies (they took a tenth of a Job's review). Whatever
    else is asked takes the usual way, to 404 or 405.
    """

    def __init__(self, endpoints: Mapping[str, ASGIApp]) -> None:
        super().__init__(title="kueue-steps admission", **BARE)
        self._endpoints = endpoints
        for path, endpoint in endpoints.items():
            self.router.routes.append(Route(path, endpoint, methods=["POST"]))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one call."""
        is_review = scope["type"] == "http" and scope["method"] == "POST"
        if is_review and (endpoint := self._endpoints.get(scope["path"])):
            await endpoint(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)


def admission_app(
    mutate: Decide, validate: Decide, observer: Observer, intake: Intake | None = None
) -> AdmissionApp:
    """POST /mutate and POST /validate, each for every kind, with one intake for both."""
    intake = intake or Intake(Limits())
    decisions = {MUTATE_PATH: mutate, VALIDATE_PATH: validate}
    return AdmissionApp(
        {path: Endpoint(path, decide, observer, intake) for path, decide in decisions.items()}
    )


def operations_app(unready: Unready, metrics: Metrics) -> FastAPI:
    """GET /livez, /readyz and /metrics."""
    app = FastAPI(title="kueue-steps operations", **BARE)

    @app.get("/livez", response_class=PlainTextResponse)
    async def livez() -> str:
        """Whether the process serves at all."""
        return "ok\n"

    @app.get("/readyz")
    async def readyz() -> PlainTextResponse:
        """Whether reviews should be sent here, and if not, why."""
        reasons = unready()
        return PlainTextResponse("\n".join([*reasons] or ["ok"]) + "\n", 503 if reasons else 200)

    @app.get("/metrics")
    async def exposition() -> Response:
        """The metrics in Prometheus' text format."""
        return Response(metrics(), media_type=EXPOSITION)

    return app
