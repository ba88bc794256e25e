"""Traces: nothing by default, and a span for each review where an endpoint is set."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue

from tests.edge.program import Program, serving_program
from tests.edge.reviews import jobset, review
from webhook.tracing import traced

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


@contextmanager
def collecting() -> Iterator[tuple[str, "Queue[bytes]"]]:
    """A collector's address, and what it gets."""
    exported: Queue[bytes] = Queue()

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            exported.put(self.rfile.read(int(self.headers["content-length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Stays silent."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Collector) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", exported
        server.shutdown()


def _post(program: Program) -> int:
    headers = {"traceparent": f"00-{TRACE}-{PARENT}-01"}
    with program.client(headers=headers) as client:
        return client.post(program.url("/mutate"), json=review(jobset(queue="gpu"))).status_code


def test_a_review_is_a_span_of_its_callers_trace(tmp_path: Path) -> None:
    """It has the caller's trace id and span id, the path and the status, and no object."""
    with collecting() as (endpoint, exported):
        variables = {"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint, "OTEL_BSP_SCHEDULE_DELAY": "50"}
        with serving_program(tmp_path, variables=variables) as program:
            assert _post(program) == 200
            span = exported.get(timeout=30)
    for part in (bytes.fromhex(TRACE), bytes.fromhex(PARENT), b"/mutate", b"kueue-steps"):
        assert part in span
    assert b"pipeline" not in span


def test_a_collector_that_is_not_there_fails_no_review(tmp_path: Path) -> None:
    """Spans are sent beside the reviews, and lost without harm."""
    variables = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}
    with serving_program(tmp_path, variables=variables) as program:
        assert [_post(program) for _ in range(3)] == [200] * 3


def test_without_an_endpoint_nothing_is_wrapped() -> None:
    """Who does not ask for traces pays nothing for them."""

    async def app(*_: object) -> None:
        """Answers nothing."""

    assert traced(app) is app
