"""A tool that the server does not know from its configuration is registered before its first call."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from .actions import Effect, Json
from .calls import Calls, new_key
from .errors import ApiError

#: As much of a description as the server takes.
MOST_WORDS = 4_000


class Registration:
    """The definition of one tool, sent once.

    :param details: ``input``, a JSON Schema of the arguments, and as you like ``description``, ``describe``, ``risk``.
    :raises TypeError: Without ``input``.
    """

    def __init__(
        self, tool: str, effect: Effect | None, function: Callable[..., object], details: Mapping[str, Any]
    ) -> None:
        if not isinstance(details.get("input"), dict):
            raise TypeError(f"register= of {tool} needs input, a JSON Schema of the arguments")
        words = (inspect.getdoc(function) or "")[:MOST_WORDS]
        self._body: dict[str, Json] = {"effect": effect or "write", "description": words, **details, "name": tool}
        self._is_sent = False

    async def send(self, calls: Calls) -> None:
        """Registers the tool, unless that was done. A tool of the configuration stays as it is there.

        :raises ApiError: What the server refuses is tried again with the next call.
        """
        if self._is_sent:
            return
        try:
            await calls.register_tool(self._body, new_key(), patience=calls.connection.patience)
        except ApiError as error:
            # The configuration has it, and knows better. Somebody else's is answered with the call.
            if error.code != "name_taken":
                raise
        self._is_sent = True
