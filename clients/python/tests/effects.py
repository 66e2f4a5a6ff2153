"""Counts what functions did, also over processes that are killed: one line of a file for each time."""

from __future__ import annotations

import tempfile
from pathlib import Path


class Effects:
    """Use as a context manager."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="countersign-effects-")
        self.path = Path(self._folder.name) / "effects"
        self.path.touch()

    def __enter__(self) -> Effects:
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def add(self, what: str) -> None:
        with self.path.open("a") as file:
            file.write(f"{what}\n")

    @property
    def all(self) -> list[str]:
        return self.path.read_text().splitlines()
