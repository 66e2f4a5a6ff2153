"""Runs a blocking call beside the test."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from .real_server import PATIENCE

T = TypeVar("T")


class InThread(Generic[T]):
    """Begins at once; :meth:`result` waits for what it returned or raised."""

    def __init__(self, call: Callable[[], T]) -> None:
        self._results: list[T] = []
        self._error: BaseException | None = None

        def run() -> None:
            try:
                self._results.append(call())
            except BaseException as error:
                self._error = error

        self._thread = threading.Thread(target=run, daemon=True)
        self._thread.start()

    def result(self) -> T:
        self._thread.join(PATIENCE)
        if self._thread.is_alive():
            raise AssertionError("the call did not end")
        if self._error is not None:
            raise self._error
        return self._results[0]
