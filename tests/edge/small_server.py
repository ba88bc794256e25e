"""The admission listener alone, as a process whose memory can be measured; prints its port."""

import uvloop

from webhook.http.app import admission_app
from webhook.http.intake import MEBIBYTE, Intake, Limits
from webhook.http.listener import Listener
from webhook.rules import admit
from webhook.rules.policy import Policy
from webhook.rules.review import Request
from webhook.rules.verdict import Verdict
from webhook.telemetry import Telemetry

LIMIT = 32 * MEBIBYTE
PATIENCE = 120.0


async def decide(request: Request) -> Verdict:
    """What needs no cluster."""
    return admit.validate(request, Policy())


async def main() -> None:
    """Serves until it is killed."""
    intake = Intake(Limits(body_bytes=LIMIT, body_seconds=PATIENCE))
    app = admission_app(decide, decide, Telemetry(), intake)
    listener = Listener(app, "127.0.0.1", 0, patience=PATIENCE)
    print(listener.port, flush=True)  # noqa: T201 - the parent reads it
    await listener.run_until_stopped()


if __name__ == "__main__":
    uvloop.run(main())
