"""Wait until a component answers, and notice at once when it died instead."""

import ssl
import time
import urllib.request
from http.client import HTTPException
from pathlib import Path

from localcluster.errors import ComponentFailed
from localcluster.processes import POLL_SECONDS, Process

ANSWER_SECONDS = 2.0


class Readiness:
    """Asks readiness URLs, trusting the control plane's own authority."""

    def __init__(self, authority: Path) -> None:
        context = ssl.create_default_context(cafile=str(authority))
        # An empty ProxyHandler: a proxy from the environment can't reach loopback.
        self._opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context)
        )

    def is_ready(self, url: str) -> bool:
        """Does the URL answer 200 now?"""
        try:
            with self._opener.open(url, timeout=ANSWER_SECONDS) as answer:
                return bool(answer.status == 200)
        except (OSError, HTTPException):
            return False

    def wait(self, process: Process) -> None:
        """Return when the process is ready; ComponentFailed if it dies or takes too long."""
        component = process.component
        deadline = time.monotonic() + component.ready_within
        while component.ready is None or not self.is_ready(component.ready):
            if not process.is_alive():
                raise ComponentFailed(component.name, "died", process.log)
            if component.ready is None:
                return
            if time.monotonic() > deadline:
                what = f"did not get ready within {component.ready_within:.0f} s"
                raise ComponentFailed(component.name, what, process.log)
            time.sleep(POLL_SECONDS)
