"""Traces of reviews with OpenTelemetry, for those who install its SDK and set OTEL_* variables.

Off by default: without an endpoint in the environment nothing is imported, and calls go straight to
the application. An API server that traces sends `traceparent` along, so that our span is part of
the trace of the user's write.
"""

import os
from collections.abc import Awaitable, Callable, MutableMapping
from importlib import import_module
from typing import Any, Final, TypeAlias

import structlog

NAME: Final = "kueue-steps"
ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
CONTEXT: Final = (b"traceparent", b"tracestate")

Message: TypeAlias = MutableMapping[str, Any]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Message, Callable[[], Awaitable[Message]], Send], Awaitable[None]]


def traced(app: App) -> App:
    """The application with a span around each call, or as it came where no endpoint is set."""
    if not any(os.environ.get(name) for name in ENDPOINTS):
        return app
    try:
        tracer, contexts = _tracer()
    except ImportError as error:
        structlog.get_logger("kueue_steps").warning("tracing", off=str(error))
        return app
    server = import_module("opentelemetry.trace").SpanKind.SERVER

    async def spanned(
        scope: Message, receive: Callable[[], Awaitable[Message]], send: Send
    ) -> None:
        headers = {
            key.decode(): value.decode("latin-1")
            for key, value in scope["headers"]
            if key in CONTEXT
        }
        context = contexts.extract(headers)
        with tracer.start_as_current_span("review", context=context, kind=server) as span:
            span.set_attribute("url.path", scope["path"])

            async def told(message: Message) -> None:
                if message["type"] == "http.response.start":
                    span.set_attribute("http.response.status_code", message["status"])
                await send(message)

            await app(scope, receive, told)

    return spanned


def _tracer() -> tuple[Any, Any]:
    """A tracer that exports as OTEL_* say (sampling too), and what reads a caller's context."""
    sdk, export = (
        import_module("opentelemetry.sdk.trace"),
        import_module("opentelemetry.sdk.trace.export"),
    )
    otlp = import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter")
    resources = import_module("opentelemetry.sdk.resources")
    named = {} if os.environ.get("OTEL_SERVICE_NAME") else {"service.name": NAME}
    provider = sdk.TracerProvider(resource=resources.Resource.create(named))
    provider.add_span_processor(export.BatchSpanProcessor(otlp.OTLPSpanExporter()))
    contexts = import_module("opentelemetry.trace.propagation.tracecontext")
    return provider.get_tracer(NAME), contexts.TraceContextTextMapPropagator()
