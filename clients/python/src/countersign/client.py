"""The clients: :class:`Client` blocks, :class:`AsyncClient` is for asyncio."""

from __future__ import annotations

import os
import ssl
from collections.abc import Mapping

from .actions import Action, Claim, FaultKind, Json, Until
from .calls import Calls, Connection, new_key
from .exchange import Secret, read_address
from .io import AsyncioIo, BlockingIo, run_blocking

DEFAULT_URL = "http://127.0.0.1:4319"


def _open(base_url: str | None, key: str | None, context: ssl.SSLContext | None, patience: float) -> Connection:
    address = read_address(base_url or os.environ.get("COUNTERSIGN_URL") or DEFAULT_URL)
    secret = key or os.environ.get("COUNTERSIGN_KEY")
    if not secret:
        raise ValueError("there is no key: pass key=, or set COUNTERSIGN_KEY")
    return Connection(address, Secret(secret), context, patience)


def proposal(
    tool: str,
    arguments: Mapping[str, Json],
    description: str | None,
    agent: str | None,
    expires_in: str | None,
    callback: str | None,
    context: Mapping[str, str] | None,
) -> dict[str, Json]:
    """The body of a proposal."""
    body: dict[str, Json] = {"tool": tool, "arguments": dict(arguments)}
    more = {"description": description, "agent": agent, "expiresIn": expires_in}
    if callback is not None:
        body["callback"] = {"url": callback}
    if context is not None:
        body["context"] = dict(context)
    return body | {name: value for name, value in more.items() if value is not None}


class _Settings:
    """What both clients have."""

    def __init__(
        self,
        base_url: str | None = None,
        key: str | None = None,
        *,
        ssl_context: ssl.SSLContext | None = None,
        patience: float = 30.0,
    ) -> None:
        self.connection = _open(base_url, key, ssl_context, patience)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.connection.address)!r})"


class Client(_Settings):
    """Calls a Countersign server and blocks until it answers. Threads may share one.

    :param base_url: Address of the server; default ``COUNTERSIGN_URL``, else ``http://127.0.0.1:4319``.
    :param key: Key of the agent; default ``COUNTERSIGN_KEY``. Nothing of this package shows it.
    :param ssl_context: For a certificate authority of your own; by default the machine's are trusted.
    :param patience: Seconds for which a call is tried again while the server cannot be reached. Every change has an
        idempotency key, so a repeat changes nothing twice.
    :raises ValueError: Without a key, or for an unusable address.

    >>> from countersign import Client
    >>> client = Client()  # COUNTERSIGN_URL and COUNTERSIGN_KEY
    >>> action = client.propose("shop.getOrder", {"order_id": "ORD-001"})
    >>> client.wait(action.id).state
    'approved'
    >>> claim = client.claim(action.id)
    >>> client.report(claim, {"status": "pending"}).state
    'succeeded'
    """

    def __init__(
        self,
        base_url: str | None = None,
        key: str | None = None,
        *,
        ssl_context: ssl.SSLContext | None = None,
        patience: float = 30.0,
    ) -> None:
        super().__init__(base_url, key, ssl_context=ssl_context, patience=patience)
        self._calls = Calls(self.connection, BlockingIo())

    def propose(
        self,
        tool: str,
        arguments: Mapping[str, Json],
        *,
        idempotency_key: str | None = None,
        description: str | None = None,
        agent: str | None = None,
        expires_in: str | None = None,
        callback: str | None = None,
        context: Mapping[str, str] | None = None,
    ) -> Action:
        """Proposes a call. Policy may answer ``approved`` or ``declined`` at once.

        :param idempotency_key: The same key with the same call is the same action; default a random one.
        :param description: Your own words, shown as not verified.
        :param expires_in: How long people may take, such as ``PT1H``. Policy may give them less.
        :param callback: Where the server sends a signed event when the action can be claimed or has ended: an address that
            an admin opened for callbacks.
        :param context: ``run``, ``url`` and ``reason``, as far as you know them: shown as not verified.
        :raises ApiError: ``not_found``, ``invalid_arguments``, ``impossible``, ``too_many_waiting``, …
        """
        body = proposal(tool, arguments, description, agent, expires_in, callback, context)
        return run_blocking(self._calls.propose(body, idempotency_key or new_key(), patience=self.connection.patience))

    def get(self, action_id: str) -> Action:
        """Reads an action as it is now. :raises ApiError: ``not_found``, …"""
        return run_blocking(self._calls.get(action_id, patience=self.connection.patience))

    def wait(self, action_id: str, *, until: Until = "decided", timeout: float | None = None) -> Action:
        """Waits until an action is decided, or has an answer with ``until="settled"``, also while the server is away.

        :param timeout: Seconds, and up to two more for the last answer; by default there is no limit.
        :raises TimeoutError: The action is untouched, and calling again goes on waiting.
        """
        return run_blocking(self._calls.wait(action_id, until, timeout))

    def claim(self, action_id: str, *, idempotency_key: str | None = None) -> Claim:
        """Takes an approved action, so that nobody else carries it out.

        :raises ApiError: ``illegal_transition`` when it is not approved or somebody has it; ``stale_preview`` when it
            went back to people. ``action`` of the error is the action as it is.
        """
        key = idempotency_key or new_key()
        return run_blocking(self._calls.claim(action_id, key, patience=self.connection.patience))

    def report(self, claim: Claim, output: Json) -> Action:
        """Says that a claimed action was carried out. The same report again changes nothing."""
        return run_blocking(self._calls.report(claim, output, new_key(), patience=self.connection.patience))

    def report_error(
        self, claim: Claim, message: str, *, kind: FaultKind = "ambiguous", retryable: bool | None = None
    ) -> Action:
        """Says that a claimed action failed. With ``ambiguous`` the outcome of a write is unknown.

        :param retryable: Whether the same call may succeed later; by default it may for every kind but ``refused``.
        """
        patience = self.connection.patience
        return run_blocking(
            self._calls.report_error(claim, kind, message, new_key(), patience=patience, retryable=retryable)
        )

    def withdraw(self, action_id: str, reason: str | None = None) -> Action:
        """Takes back what this key proposed. :raises ApiError: ``illegal_transition`` once it has started."""
        return run_blocking(self._calls.withdraw(action_id, reason, new_key(), patience=self.connection.patience))


class AsyncClient(_Settings):
    """:class:`Client` for asyncio: the same calls to be awaited, the same parameters.

    Each request runs in a short-lived thread of its own; cancelling the task ends it at once.

    >>> import asyncio
    >>> from countersign import AsyncClient
    >>> async def look() -> str:
    ...     client = AsyncClient()
    ...     action = await client.propose("shop.getOrder", {"order_id": "ORD-001"})
    ...     return (await client.wait(action.id)).state
    >>> asyncio.run(look())
    'approved'
    """

    def __init__(
        self,
        base_url: str | None = None,
        key: str | None = None,
        *,
        ssl_context: ssl.SSLContext | None = None,
        patience: float = 30.0,
    ) -> None:
        super().__init__(base_url, key, ssl_context=ssl_context, patience=patience)
        self._calls = Calls(self.connection, AsyncioIo())

    async def propose(
        self,
        tool: str,
        arguments: Mapping[str, Json],
        *,
        idempotency_key: str | None = None,
        description: str | None = None,
        agent: str | None = None,
        expires_in: str | None = None,
        callback: str | None = None,
        context: Mapping[str, str] | None = None,
    ) -> Action:
        """See :meth:`Client.propose`."""
        body = proposal(tool, arguments, description, agent, expires_in, callback, context)
        return await self._calls.propose(body, idempotency_key or new_key(), patience=self.connection.patience)

    async def get(self, action_id: str) -> Action:
        """See :meth:`Client.get`."""
        return await self._calls.get(action_id, patience=self.connection.patience)

    async def wait(self, action_id: str, *, until: Until = "decided", timeout: float | None = None) -> Action:
        """See :meth:`Client.wait`."""
        return await self._calls.wait(action_id, until, timeout)

    async def claim(self, action_id: str, *, idempotency_key: str | None = None) -> Claim:
        """See :meth:`Client.claim`."""
        return await self._calls.claim(action_id, idempotency_key or new_key(), patience=self.connection.patience)

    async def report(self, claim: Claim, output: Json) -> Action:
        """See :meth:`Client.report`."""
        return await self._calls.report(claim, output, new_key(), patience=self.connection.patience)

    async def report_error(
        self, claim: Claim, message: str, *, kind: FaultKind = "ambiguous", retryable: bool | None = None
    ) -> Action:
        """See :meth:`Client.report_error`."""
        patience = self.connection.patience
        return await self._calls.report_error(
            claim, kind, message, new_key(), patience=patience, retryable=retryable
        )

    async def withdraw(self, action_id: str, reason: str | None = None) -> Action:
        """See :meth:`Client.withdraw`."""
        return await self._calls.withdraw(action_id, reason, new_key(), patience=self.connection.patience)
