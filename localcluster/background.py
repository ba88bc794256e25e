"""A coroutine in a thread of its own, beside what waits and works in plain calls."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")


class Background:
    """Runs `work` from `start` to `stop`; `error` is what broke it, if anything did."""

    def __init__(self, name: str, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self.error: BaseException | None = None
        self._work = work
        self._begun = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def is_alive(self) -> bool:
        """Is it still at work?"""
        return self._thread.is_alive()

    def start(self, seconds: float) -> bool:
        """Did the work say within so many seconds that it has `begun`? If not, it is stopped."""
        self._thread.start()
        if self._begun.wait(seconds) and not self.error:
            return True
        self.stop()
        return False

    def begun(self) -> None:
        """For the work itself to say, when what it is there for has begun."""
        self._begun.set()

    def ask(self, question: Coroutine[Any, Any, T], seconds: float) -> T:
        """The answer, found between two steps of the work."""
        if self._loop is None:
            raise RuntimeError("start it first")
        return asyncio.run_coroutine_threadsafe(question, self._loop).result(seconds)

    def stop(self) -> None:
        """Cancel the work, and wait for its end."""
        if self._loop and self._task:
            # The loop is closed already where the work broke.
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._task.cancel)
        self._thread.join()

    def _run(self) -> None:
        try:
            asyncio.run(self._noted())
        except asyncio.CancelledError:
            pass
        except BaseException as error:  # noqa: BLE001 - told to whoever asks what was found
            self.error = error
        finally:
            self._begun.set()

    async def _noted(self) -> None:
        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        await self._work()
