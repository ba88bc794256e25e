"""The two applications: admission (behind TLS) and operations (plain)."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from fastapi import FastAPI
from fastapi.responses import PlainTextResponse, Response
from starlette.routing import Route

from webhook.http.endpoint import Decide, Endpoint, Observer
from webhook.http.intake import Intake, Limits

Unready: TypeAlias = Callable[[], Sequence[str]]
"""The reasons why this replica should get no reviews now; empty when it is ready."""

Metrics: TypeAlias = Callable[[], bytes]
"""The metrics of this process in Prometheus' text format."""

EXPOSITION = "text/plain; version=0.0.4; charset=utf-8"

MUTATE_PATH = "/mutate"
VALIDATE_PATH = "/validate"


def admission_app(
    mutate: Decide, validate: Decide, observer: Observer, intake: Intake | None = None
) -> FastAPI:
    """POST /mutate and POST /validate, each for every kind, with one intake for both."""
    app = _bare_app("kueue-steps admission")
    intake = intake or Intake(Limits())
    for path, decide in ((MUTATE_PATH, mutate), (VALIDATE_PATH, validate)):
        endpoint = Endpoint(path, decide, observer, intake)
        app.router.routes.append(Route(path, endpoint, methods=["POST"]))
    return app


def operations_app(unready: Unready, metrics: Metrics) -> FastAPI:
    """GET /livez, /readyz and /metrics."""
    app = _bare_app("kueue-steps operations")

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


def _bare_app(title: str) -> FastAPI:
    return FastAPI(
        title=title, openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False
    )
