"""One gated call from its proposal to its report. It is written once, for both ways to wait."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, cast

from .actions import Action, Claim, Effect, FaultKind, Json
from .calls import Calls, new_key
from .errors import ApiError, CallFailed, NotApproved, NothingDone, OutcomeUnknown, ToolMismatch
from .fit import fit

R = TypeVar("R")

log = logging.getLogger("countersign")

#: Of the hold, at most this is kept for the way back to the server.
REPORT_SHARE = 0.2
REPORT_SECONDS = 5.0
#: After a cancellation, for each last word to the server: how long it is tried again, and how long one answer may take.
LAST_WORD_SECONDS = 5.0
LAST_ANSWER_SECONDS = 15.0
MOST_WORDS = 1_000
#: What the server does not take as a result, although the work was done.
_UNFIT = ("bad_request", "too_large", "invalid_arguments")
_NOTE: dict[str, Json] = {"note": "It was carried out; its answer could not be passed on."}


@dataclass(frozen=True)
class Work(Generic[R]):
    """What is to be done once it is approved."""

    tool: str
    effect: Effect | None
    body: Mapping[str, Json]
    key: str
    #: Makes the call from the approved arguments. Raises TypeError where they do not fit.
    prepare: Callable[[Mapping[str, Json]], Callable[[], Awaitable[R]]]
    to_json: Callable[[R], Json] | None
    nothing_done: tuple[type[Exception], ...]
    #: What the function itself raised: another gated call in it may have been refused.
    raised: list[Exception] = field(default_factory=list[Exception])


@dataclass(frozen=True)
class Done(Generic[R]):
    """What the function returned, or the recorded result where the call had run before."""

    value: R | Json
    #: As it ended; as it was claimed where the server did not take the value.
    action: Action


async def perform(calls: Calls, work: Work[R]) -> Done[R]:
    """Proposes, waits, claims, carries out and reports.

    :raises NotApproved, CallFailed, OutcomeUnknown, ToolMismatch, ApiError: And whatever the function raises.
    """
    elapsed, taken = await _obtain(calls, work)
    if isinstance(taken, Action):
        return Done(_recorded(taken), taken)
    return await _Attempt(calls, work, taken).run(elapsed)


def _start_clock() -> Callable[[], float]:
    """The seconds since now.

    The monotonic clock stands still while the machine sleeps, and the time of day may be put back: the longer one counts.
    """
    monotonic, of_day = time.monotonic(), time.time()
    return lambda: max(time.monotonic() - monotonic, time.time() - of_day)


async def _obtain(calls: Calls, work: Work[Any]) -> tuple[Callable[[], float], Claim | Action]:
    """The hold with the time since before it was asked for, or the action that somebody else settled."""
    action: Action | None = None
    claim_key: str | None = None
    try:
        action = await calls.propose(work.body, work.key, patience=calls.connection.patience)
        mismatch = _mismatch(work, action)
        if mismatch is not None:
            await _take_back(calls, work, action, None)
            raise ToolMismatch(mismatch)
        while True:
            if action.state == "proposed":
                action = await calls.wait(action.id, "decided")
            elif action.state == "executing":
                # The same key elsewhere: that one carries it out.
                action = await calls.wait(action.id, "settled")
            elif action.state != "approved":
                return _start_clock(), action
            else:
                # A new one each time: the answer to the last may be that it went back to people.
                claim_key, elapsed = new_key(), _start_clock()
                try:
                    return elapsed, await calls.claim(action.id, claim_key, patience=None)
                except ApiError as error:
                    if error.action is None or error.action.id != action.id:
                        raise
                    if error.action.state == "approved":
                        await calls.io.pause(1.0)
                    action = error.action
    except Exception:
        raise
    except BaseException as cancelled:
        # KeyboardInterrupt, SystemExit, asyncio.CancelledError.
        if not await calls.io.finish(_take_back(calls, work, action, claim_key)):
            cancelled.add_note(f"{work.tool} could not be withdrawn{'' if action is None else f': {action.id}'}")
        raise


def _mismatch(work: Work[Any], action: Action) -> str | None:
    if action.tool != work.tool:
        return f"the server answered about {action.tool}, not {work.tool}"
    if action.executor != "client":
        return f"{work.tool} is carried out by the server, so no function runs for it here: set executor: client on the tool"
    if work.effect is not None and action.effect != work.effect:
        return f"{work.tool} is a {action.effect} on the server, not a {work.effect}"
    return None


async def _take_back(calls: Calls, work: Work[Any], action: Action | None, claim_key: str | None) -> bool:
    """Withdraws what was proposed, also where the answers were lost; True when nothing of it is left."""
    last = calls.hurried(LAST_ANSWER_SECONDS)
    patience = LAST_WORD_SECONDS
    try:
        if action is None:
            # The same key: what was proposed already is found, and nothing is proposed twice.
            action = await last.propose(work.body, work.key, patience=patience)
        if action.is_settled:
            return True
        await last.withdraw(action.id, "The program that asked was stopped.", new_key(), patience=patience)
        return True
    except ApiError as error:
        if error.action is not None and error.action.is_settled:
            return True
        if action is None or claim_key is None or error.action is None:
            return False
    try:
        # The answer to the claim may have been lost. The same key gets the same hold, and nobody else's.
        claim = await last.claim(action.id, claim_key, patience=patience)
        said = "The program was stopped before it carried this out."
        await last.report_error(claim, "unreachable", said, new_key(), patience=patience)
    except ApiError:
        return False
    return True


def _recorded(action: Action) -> Json:
    if action.state == "succeeded":
        return action.result
    if action.state == "failed":
        raise CallFailed(action, action.reason)
    if action.state == "outcome_unknown":
        raise OutcomeUnknown(action)
    raise NotApproved(action, action.reason)


class _Attempt(Generic[R]):
    """What was claimed is carried out, once, and its outcome told."""

    def __init__(self, calls: Calls, work: Work[R], claim: Claim) -> None:
        self._calls = calls
        self._work = work
        self._claim = claim
        #: The answer to the last report.
        self._told = claim.action

    async def run(self, elapsed: Callable[[], float]) -> Done[R]:
        action = self._claim.action
        hold = self._claim.hold_seconds
        # Counted from before the claim: this clock must never think that the hold lasts longer than the server does.
        if elapsed() >= hold - min(hold * REPORT_SHARE, REPORT_SECONDS):
            raise await self._unsent("unreachable", "There was no time left to carry this out.")
        try:
            call = self._work.prepare(action.arguments)
        except TypeError as error:
            raise await self._unsent("broken", str(error)) from None
        try:
            value = await call()
        except Exception as error:
            self._work.raised.append(error)
            is_nothing = isinstance(error, (NothingDone, *self._work.nothing_done))
            await self._tell_error("refused" if is_nothing else "ambiguous", _words(error))
            raise
        except BaseException as stopped:
            words = f"It was stopped while it ran ({type(stopped).__name__})."
            await self._calls.io.finish(self._last_word(None, ("ambiguous", words), new_key()))
            raise
        return Done(value, await self._tell_output(value))

    async def _unsent(self, kind: FaultKind, why: str) -> CallFailed:
        await self._tell_error(kind, why)
        return CallFailed(self._claim.action, why)

    async def _tell_output(self, value: R) -> Action:
        try:
            output = self._work.to_json(value) if self._work.to_json else cast("Json", value)
            output = fit(json.loads(json.dumps(output, allow_nan=False)))
        except Exception as cause:
            log.warning("The result of %s is not JSON (%s); only that it was carried out is recorded.", self._name, cause)
        else:
            if await self._tell(output, None):
                return self._told
            log.warning("The server does not take the result of %s; only that it was carried out is recorded.", self._name)
        await self._tell(_NOTE, None)
        return self._claim.action

    async def _tell_error(self, kind: FaultKind, words: str) -> None:
        if not await self._tell(None, (kind, words)):
            await self._tell(None, (kind, "It failed; the server did not take the words."))

    async def _tell(self, output: Json, fault: tuple[FaultKind, str] | None) -> bool:
        """Tells the server until it has heard, however long that takes; False when these words are unfit."""
        key = new_key()
        try:
            self._told = await self._send(self._calls, output, fault, key=key, patience=None)
        except ApiError as error:
            if error.code in _UNFIT:
                return False
            # The work was done: raising would say that it was not.
            log.error("The outcome of %s was not recorded: %s", self._name, error)
        except Exception:
            raise
        except BaseException:
            await self._calls.io.finish(self._last_word(output, fault, key))
            raise
        return True

    async def _last_word(self, output: Json, fault: tuple[FaultKind, str] | None, key: str) -> None:
        last = self._calls.hurried(LAST_ANSWER_SECONDS)
        try:
            await self._send(last, output, fault, key=key, patience=LAST_WORD_SECONDS)
        except ApiError as error:
            log.error("The outcome of %s was not recorded: %s", self._name, error)

    async def _send(
        self, calls: Calls, output: Json, fault: tuple[FaultKind, str] | None, *, key: str, patience: float | None
    ) -> Action:
        if fault is None:
            return await calls.report(self._claim, output, key, patience=patience)
        return await calls.report_error(self._claim, fault[0], fault[1], key, patience=patience)

    @property
    def _name(self) -> str:
        return f"{self._claim.action.tool} ({self._claim.action.id})"


def _words(error: Exception) -> str:
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return text.encode("utf-8", "replace").decode().replace("\0", "").strip()[:MOST_WORDS]
