"""How a replica goes without failing a review.

API servers use their idle connections to a replica for up to 90 s after they were told that it
goes, and never send a review again that met a connection as it closed. So nothing is closed here
that a client may still use: answers say that they are the last ones on their connection, idle
connections are left to the clients, and the listener goes on until nobody is connected any more
and nobody new has come for a while.
"""

import asyncio
import signal
from typing import Final

from webhook.http.listener import Listener
from webhook.http.times import Times

LOOK_SECONDS: Final = 0.1


class Signals:
    """SIGTERM and SIGINT: the first one asks for a drain, any further one for an end at once."""

    def __init__(self) -> None:
        self.first = asyncio.Event()
        self.second = asyncio.Event()
        self.is_at_terminal = False

    def handle(self) -> None:
        """Takes both signals from now on."""
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, self.note, number)

    def note(self, number: signal.Signals) -> None:
        """One of them came."""
        if self.first.is_set():
            self.second.set()
        self.is_at_terminal |= number is signal.SIGINT
        self.first.set()


async def drain(listener: Listener, signals: Signals, times: Times) -> int:
    """Stops the listener when nobody needs it; returns how many connections were still open.

    That is when nobody is connected and nobody has come for the quiet time, when the longest time
    is over, or after a second signal. The quiet time is for endpoints, and after Ctrl-C there are
    none.
    """
    now = asyncio.get_running_loop().time
    begun = now()
    quiet = 0.0 if signals.is_at_terminal else times.quiet
    listener.part()
    while not signals.second.is_set() and now() < begun + times.longest:
        if not listener.open_connections and now() >= max(begun, listener.latest) + quiet:
            break
        await asyncio.sleep(LOOK_SECONDS)
    cut = listener.open_connections
    listener.stop(at_once=signals.second.is_set())
    return cut
