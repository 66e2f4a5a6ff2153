"""The exceptions of this package. None of them contains the key, and each may cross to another process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .actions import Action, ActionState


class CountersignError(Exception):
    """Base of everything that this package raises on its own."""


@dataclass(frozen=True)
class Issue:
    """One thing that is wrong with what was sent, and where: a JSON pointer into the arguments."""

    path: str
    message: str


class ApiError(CountersignError):
    """A refusal of the server, or no usable answer. Tell errors apart by ``code``.

    ``code`` is one of the server's table (``not_found``, ``forbidden``, ``invalid_arguments``, …) or one of these:
    ``offline`` (no answer came, or half of one: whether the server acted is not known), ``redirected`` (the server
    answered with a redirect, which is never followed) and ``untrusted_certificate``. ``status`` is the HTTP status,
    0 without an answer. ``action`` is the current action where the server sent it along.
    """

    def __init__(
        self,
        code: str,
        status: int,
        detail: str,
        *,
        action: Action | None = None,
        issues: tuple[Issue, ...] = (),
        retry_after: float | None = None,
        is_unexplained: bool = False,
    ) -> None:
        super().__init__(code, status, detail)
        self.code = code
        self.status = status
        self.detail = detail
        self.action = action
        self.issues = issues
        #: Seconds that the server asked to wait before another try.
        self.retry_after = retry_after
        #: True for an answer that was no problem document: the page of a proxy, say, and no word of the server.
        self.is_unexplained = is_unexplained

    def __str__(self) -> str:
        return f"{self.detail} ({self.code})"


class NotApproved(CountersignError):
    """The call did not run, because it was declined, expired, withdrawn or cancelled. ``reason`` is a sentence."""

    def __init__(self, action: Action, reason: str) -> None:
        super().__init__(action, reason)
        self.action = action
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.action.tool} was not {'carried out' if self.was_approved else 'approved'}: {self.reason}"

    @property
    def state(self) -> ActionState:
        """``declined``, ``expired`` or ``cancelled``."""
        return self.action.state

    @property
    def was_approved(self) -> bool:
        """True when it had been approved, and expired or was cancelled before any program claimed it."""
        return self.state != "declined" and self.action.raw.get("decidedAt") is not None


class CallFailed(CountersignError):
    """The call is recorded as failed: it was approved, and nothing was done."""

    def __init__(self, action: Action, reason: str) -> None:
        super().__init__(action, reason)
        self.action = action
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.action.tool} failed: {self.reason}"


class OutcomeUnknown(CountersignError):
    """The call was started, and nobody knows whether it did anything. A person finds out; do not repeat it."""

    def __init__(self, action: Action) -> None:
        super().__init__(action)
        self.action = action

    def __str__(self) -> str:
        return f"It is not known whether {self.action.tool} was carried out. Do not repeat it; a person will find out."


class ToolMismatch(CountersignError):
    """The server's tool is not what the decorator says, so the function was not run."""


class NothingDone(CountersignError):
    """Raise it in a gated function to say that nothing was changed: the action is then recorded as failed.

    After any other exception the outcome of a write is unknown, because the function may have done something before.
    """
