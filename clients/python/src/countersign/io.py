"""The two ways to wait: blocking, and on asyncio. What is done is written once, as coroutines over :class:`Io`."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Coroutine
from typing import Any, Protocol, TypeVar

from .errors import ApiError
from .exchange import Answer, Exchange

T = TypeVar("T")


class Io(Protocol):
    """How requests are sent and time is spent."""

    async def send(self, exchange: Exchange) -> Answer:
        """The answer. :raises ApiError: ``offline`` and the like."""
        ...

    async def pause(self, seconds: float) -> None:
        """Returns after so many seconds."""
        ...

    async def finish(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of work that goes on to its end although the caller was cancelled."""
        ...


class BlockingIo:
    """Blocks the calling thread; its coroutines never suspend, so :func:`run_blocking` runs them without a loop."""

    async def send(self, exchange: Exchange) -> Answer:
        try:
            return exchange.run_watched()
        except RuntimeError:
            raise _no_thread() from None

    async def pause(self, seconds: float) -> None:
        time.sleep(seconds)

    async def finish(self, work: Coroutine[Any, Any, T]) -> T:
        return await work


def run_blocking(work: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine over :class:`BlockingIo`, run to its end in this thread."""
    try:
        work.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    work.close()
    raise RuntimeError("a blocking call was suspended: it has to be called without asyncio")


def _no_thread() -> ApiError:
    return ApiError("offline", 0, "No thread is left to send a request.")


class AsyncioIo:
    """Runs each request in a thread of its own, so that neither the loop nor its pool of threads waits for the server.

    A cancelled request breaks its connection off at once.
    """

    async def send(self, exchange: Exchange) -> Answer:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Answer] = loop.create_future()

        def settle(result: Answer | None, error: BaseException | None) -> None:
            if answer.done():
                return
            if error is not None:
                answer.set_exception(error)
            elif result is not None:
                answer.set_result(result)

        def work() -> None:
            result: Answer | None = None
            error: BaseException | None = None
            try:
                result = exchange.run()
            except BaseException as raised:
                error = raised
            try:
                loop.call_soon_threadsafe(settle, result, error)
            except RuntimeError:
                # The loop was closed; nobody waits any more.
                return

        try:
            threading.Thread(target=work, name="countersign", daemon=True).start()
        except RuntimeError:
            raise _no_thread() from None
        too_late = loop.call_later(exchange.timeout, exchange.abort)
        try:
            return await answer
        except asyncio.CancelledError:
            exchange.abort()
            raise
        finally:
            too_late.cancel()

    async def pause(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def finish(self, work: Coroutine[Any, Any, T]) -> T:
        task = asyncio.ensure_future(work)
        while True:
            try:
                return await asyncio.shield(task)
            except asyncio.CancelledError:
                # Cancelled once more: the work is short and ends by itself. Only a loop that closes ends it earlier.
                if task.done():
                    raise
