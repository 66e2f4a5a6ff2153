"""What the server answers, as typed values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypeAlias, cast, get_args

Json: TypeAlias = "None | bool | int | float | str | list[Json] | dict[str, Json]"
"""What JSON can hold."""

Effect = Literal["read", "write"]
Until = Literal["decided", "settled"]
ActionState = Literal[
    "proposed", "approved", "declined", "expired", "cancelled", "executing", "succeeded", "failed", "outcome_unknown"
]
FaultKind = Literal["refused", "unreachable", "ambiguous", "broken", "stale"]
"""What is known of the effect: see the guide *Let a client run approved actions*."""

SETTLED: frozenset[ActionState] = frozenset(
    ("declined", "expired", "cancelled", "succeeded", "failed", "outcome_unknown")
)
"""The states in which the call has an answer."""


class UnreadableAnswer(ValueError):
    """An answer that is not what the server's documentation promises."""


@dataclass(frozen=True)
class ActionFault:
    """Why an action failed, was cancelled or has an unknown outcome."""

    kind: str
    message: str
    retryable: bool


@dataclass(frozen=True)
class Action:
    """One tool call as the server knows it. ``raw`` has every member of the answer, these included."""

    id: str
    tool: str
    effect: Effect
    executor: Literal["server", "client"]
    arguments: dict[str, Json]
    state: ActionState
    revision: int
    digest: str
    description: str
    expires_at: datetime | None
    updated_at: datetime
    result: Json
    error: ActionFault | None
    raw: Mapping[str, Any] = field(repr=False, compare=False)

    @property
    def is_settled(self) -> bool:
        """True when the call has an answer. A person may still move ``failed`` and ``outcome_unknown``."""
        return self.state in SETTLED

    @property
    def reason(self) -> str:
        """Why it did not run, as a sentence for a person or a model."""
        if self.state == "declined":
            return self._declined_because()
        if self.state == "expired":
            return self._said_of_its_end() or "It expired."
        if self.error is not None:
            return self.error.message
        return "It was cancelled." if self.state == "cancelled" else f"It is {self.state}."

    def _said_of_its_end(self) -> str:
        # An action also expires after it was approved. The server tells the two apart.
        for outcome in objects_in([self.raw.get("outcome")]):
            if isinstance(outcome.get("text"), str):
                return str(outcome["text"])
        return ""

    def _declined_because(self) -> str:
        for vote in reversed(objects_in(self.raw.get("votes"))):
            if vote.get("verdict") == "decline" and isinstance(vote.get("reason"), str) and vote["reason"]:
                return str(vote["reason"])
        # Without a person's vote it was the policy.
        for policy in objects_in([self.raw.get("policy")]):
            if policy.get("verdict") == "deny" and isinstance(policy.get("reason"), str):
                return str(policy["reason"])
        return "A person declined it."


@dataclass(frozen=True)
class Claim:
    """A hold on an approved action: whoever has it carries the action out and reports before ``hold_ends_at``.

    ``idempotency_key`` is for the service that the action changes: the same after a lost answer, so that the service
    does it once.
    """

    action: Action
    epoch: int
    idempotency_key: str
    hold_ends_at: datetime

    @property
    def hold_seconds(self) -> float:
        """How long the hold lasts, from the moment that the server gave it."""
        return (self.hold_ends_at - self.action.updated_at).total_seconds()


def read_action(data: object) -> Action:
    """The action of an answer. :raises UnreadableAnswer: for anything else."""
    given = read_object(data, "action")
    fault = given.get("error")
    expires = given.get("expiresAt")
    return Action(
        id=_text(given, "id"),
        tool=_text(given, "tool"),
        effect=_one_of(given, "effect", get_args(Effect)),
        executor=_one_of(given, "executor", ("server", "client")),
        arguments=cast("dict[str, Json]", read_object(given.get("arguments"), "arguments")),
        state=_one_of(given, "state", get_args(ActionState)),
        revision=_whole(given, "revision"),
        digest=_text(given, "digest"),
        description=_text(given, "description"),
        expires_at=None if expires is None else _time(given, "expiresAt"),
        updated_at=_time(given, "updatedAt"),
        result=given.get("result"),
        error=None if fault is None else _read_fault(fault),
        raw=given,
    )


def read_claim(data: object) -> Claim:
    """The hold of an answer. :raises UnreadableAnswer: for anything else."""
    given = read_object(data, "claim")
    return Claim(
        action=read_action(given.get("action")),
        epoch=_whole(given, "epoch"),
        idempotency_key=_text(given, "idempotencyKey"),
        hold_ends_at=_time(given, "holdEndsAt"),
    )


def read_object(data: object, what: str) -> dict[str, Any]:
    """A JSON object. :raises UnreadableAnswer: for anything else."""
    if not isinstance(data, dict):
        raise UnreadableAnswer(f"{what} is not an object")
    return cast("dict[str, Any]", data)


def objects_in(data: object) -> list[dict[str, Any]]:
    """The objects of a list; none of anything else."""
    members = cast("list[object]", data) if isinstance(data, list) else []
    return [cast("dict[str, Any]", member) for member in members if isinstance(member, dict)]


def _read_fault(data: object) -> ActionFault:
    given = read_object(data, "error")
    return ActionFault(kind=_text(given, "kind"), message=_text(given, "message"), retryable=given.get("retryable") is True)


def _text(given: Mapping[str, Any], name: str) -> str:
    value = given.get(name)
    if not isinstance(value, str):
        raise UnreadableAnswer(f"{name} is not a text")
    return value


def _whole(given: Mapping[str, Any], name: str) -> int:
    value = given.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        raise UnreadableAnswer(f"{name} is not a whole number")
    return value


def _one_of(given: Mapping[str, Any], name: str, known: tuple[str, ...]) -> Any:
    value = _text(given, name)
    if value not in known:
        raise UnreadableAnswer(f"{name} is none of {', '.join(known)}")
    return value


def _time(given: Mapping[str, Any], name: str) -> datetime:
    text = _text(given, name)
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise UnreadableAnswer(f"{name} is not a time") from None
    if time.tzinfo is None:
        raise UnreadableAnswer(f"{name} has no time zone")
    return time
