"""The calls to the server, and when each is tried again."""

from __future__ import annotations

import json
import logging
import random
import ssl
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar, cast
from urllib.parse import quote, urlsplit

from .actions import Action, Claim, FaultKind, Json, UnreadableAnswer, Until, objects_in, read_action, read_claim
from .errors import ApiError, Issue
from .exchange import Address, Answer, Exchange, Request, Secret
from .io import Io

T = TypeVar("T")

log = logging.getLogger("countersign")

#: One long poll. Proxies often end a request that is silent for 60 s.
POLL_SECONDS = 25.0
#: For the answer beside that.
ANSWER_SECONDS = 15.0
#: The same for the last answer before a deadline of the caller, who does not wait much longer.
LAST_ANSWER_SECONDS = 2.0
REQUEST_SECONDS = 30.0
FIRST_RETRY_SECONDS = 0.25
LONGEST_RETRY_SECONDS = 15.0
LONGEST_ASKED_SECONDS = 60.0

_CODES = {400: "bad_request", 401: "unauthenticated", 403: "forbidden", 404: "not_found", 410: "gone", 413: "too_large"}


@dataclass(frozen=True)
class Connection:
    """Where the server is and who calls."""

    address: Address
    secret: Secret
    context: ssl.SSLContext | None
    #: Seconds for which a call is tried again while the server cannot be reached.
    patience: float


def new_key() -> str:
    """An idempotency key that nobody else has."""
    return str(uuid.uuid4())


def is_transient(error: ApiError) -> bool:
    """True where the same request may well succeed a little later."""
    if error.code == "too_many_waiting":
        return False
    return error.code in ("offline", "busy") or error.status in (408, 429, 502, 503, 504)


def is_final(error: ApiError) -> bool:
    """True where asking again cannot help."""
    if is_transient(error):
        return False
    return error.code in ("redirected", "untrusted_certificate") or 400 <= error.status < 500


def is_of_proxy(error: ApiError) -> bool:
    """True for a 404 that the server did not explain: some proxies answer so while the server behind them is replaced."""
    return error.status == 404 and error.is_unexplained


class Calls:
    """Every call, once. ``patience`` is in seconds; ``None`` tries until the server gives a final answer.

    :param request_seconds: For one request with its answer, where that is no long poll.
    """

    def __init__(self, connection: Connection, io: Io, request_seconds: float = REQUEST_SECONDS) -> None:
        self.connection = connection
        self.io = io
        self._request_seconds = request_seconds
        #: The server itself has answered: from then on a page in place of an action does not say that there is none.
        self._is_heard = False

    def hurried(self, request_seconds: float) -> Calls:
        """The same with another time for one request."""
        calls = Calls(self.connection, self.io, request_seconds)
        calls._is_heard = self._is_heard
        return calls

    async def propose(self, body: Mapping[str, Json], key: str, *, patience: float | None) -> Action:
        return await self._change("/api/actions", body, key, read_action, patience)

    async def register_tool(self, body: Mapping[str, Json], key: str, *, patience: float | None) -> None:
        await self._change("/api/tools", body, key, lambda _: None, patience)

    async def get(self, action_id: str, *, patience: float | None) -> Action:
        request = Request("GET", _path(action_id), timeout=self._request_seconds)
        return self._same(action_id, await self._until(request, read_action, patience))

    async def wait(self, action_id: str, until: Until, timeout: float | None = None) -> Action:
        """Polls until the action is decided or settled, however often the server goes away meanwhile."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            polled = POLL_SECONDS if left is None else min(POLL_SECONDS, left)
            path = f"{_path(action_id)}?wait={polled:.3f}&until={until}"
            longest = polled + ANSWER_SECONDS
            request = Request("GET", path, timeout=longest if left is None else min(longest, left + LAST_ANSWER_SECONDS))
            started = time.monotonic()
            try:
                action = await self._until(request, read_action, left)
            except ApiError as error:
                if deadline is not None and (is_transient(error) or self._is_lost(request, error)):
                    raise TimeoutError(f"{action_id} is not {until}; {error.detail}") from error
                raise
            if self._same(action_id, action).is_settled or (until == "decided" and action.state != "proposed"):
                return action
            if deadline is not None and time.monotonic() >= deadline:
                raise TimeoutError(f"{action_id} is not {until}: it is {action.state}")
            # A server that does not hold the request must not be asked without a pause.
            await self.io.pause(max(0.0, min(1.0, polled) - (time.monotonic() - started)))

    async def claim(self, action_id: str, key: str, *, patience: float | None) -> Claim:
        claim = await self._change(f"{_path(action_id)}/claim", {}, key, read_claim, patience)
        self._same(action_id, claim.action)
        return claim

    async def report(self, claim: Claim, output: Json, key: str, *, patience: float | None) -> Action:
        return await self._tell(claim, {"output": output}, key, patience)

    async def report_error(
        self,
        claim: Claim,
        kind: FaultKind,
        message: str,
        key: str,
        *,
        patience: float | None,
        retryable: bool | None = None,
    ) -> Action:
        error: dict[str, Json] = {"kind": kind, "message": message}
        if retryable is not None:
            error["retryable"] = retryable
        return await self._tell(claim, {"error": error}, key, patience)

    async def withdraw(self, action_id: str, reason: str | None, key: str, *, patience: float | None) -> Action:
        body: dict[str, Json] = {} if reason is None else {"reason": reason}
        return self._same(action_id, await self._change(f"{_path(action_id)}/withdraw", body, key, read_action, patience))

    async def _tell(self, claim: Claim, said: dict[str, Json], key: str, patience: float | None) -> Action:
        action_id = claim.action.id
        body: dict[str, Json] = {"epoch": claim.epoch, **said}
        return self._same(action_id, await self._change(f"{_path(action_id)}/result", body, key, read_action, patience))

    async def _change(
        self, path: str, body: Mapping[str, Json], key: str, read: Callable[[object], T], patience: float | None
    ) -> T:
        content = json.dumps(body, allow_nan=False).encode()
        headers = {"content-type": "application/json", "idempotency-key": key}
        return await self._until(Request("POST", path, content, headers, self._request_seconds), read, patience)

    async def _until(self, request: Request, read: Callable[[object], T], patience: float | None) -> T:
        """Every request may be repeated: a GET changes nothing, and every POST has its idempotency key."""
        deadline = None if patience is None else time.monotonic() + patience
        failures = 0
        while True:
            try:
                return read(await self._once(request))
            except UnreadableAnswer as cause:
                error = ApiError("offline", 0, f"{self.connection.address} sent an answer that cannot be read: {cause}.")
            except ApiError as raised:
                error = raised
            is_last = is_final(error) if deadline is None else not is_transient(error)
            if is_last and not self._is_lost(request, error):
                raise error
            delay = _delay(failures, error.retry_after)
            if deadline is not None and time.monotonic() + delay > deadline:
                raise error
            failures += 1
            log.warning("%s Trying again in %.1f s.", error.detail, delay)
            await self.io.pause(delay)

    async def _once(self, request: Request) -> object:
        connection = self.connection
        exchange = Exchange(connection.address, connection.secret, connection.context, request)
        answer = await self.io.send(exchange)
        if 300 <= answer.status < 400:
            raise self._redirected(answer)
        try:
            data = json.loads(answer.body)
        except (ValueError, RecursionError):
            data = None
        if 200 <= answer.status < 300:
            if data is None:
                raise UnreadableAnswer("it is not JSON")
            self._is_heard = True
            return cast(object, data)
        error = self._problem(answer, data)
        self._is_heard = self._is_heard or not error.is_unexplained
        raise error

    def _is_lost(self, request: Request, error: ApiError) -> bool:
        """True where an action that the server knows may be there again a little later."""
        return self._is_heard and is_of_proxy(error) and request.path.startswith(_ABOUT_ACTION)

    def _redirected(self, answer: Answer) -> ApiError:
        target = urlsplit(answer.location or "").netloc.rpartition("@")[2] or "another path"
        detail = f"{self.connection.address} redirects to {target}. That is not followed, because the key would be sent there."
        return ApiError("redirected", answer.status, self.connection.secret.hide_in(detail))

    def _problem(self, answer: Answer, data: object) -> ApiError:
        given = cast("dict[str, Any]", data) if isinstance(data, dict) else {}
        hide = self.connection.secret.hide_in
        code, detail = given.get("code"), given.get("detail")
        is_unexplained = not isinstance(code, str)
        if not isinstance(code, str):
            code = _CODES.get(answer.status, "bad_request" if answer.status < 500 else "internal")
            detail = f"The server answered {answer.status} without an explanation"
        try:
            action = read_action(given["action"]) if "action" in given else None
        except UnreadableAnswer:
            action = None
        return ApiError(
            hide(code),
            answer.status,
            hide(detail if isinstance(detail, str) else code),
            action=action,
            issues=tuple(Issue(hide(issue.path), hide(issue.message)) for issue in _issues(given.get("issues"))),
            retry_after=retry_seconds(answer.retry_after),
            is_unexplained=is_unexplained,
        )

    def _same(self, action_id: str, action: Action) -> Action:
        if action.id != action_id:
            raise ApiError("internal", 0, f"{self.connection.address} answered with another action than {action_id}.")
        return action


_ABOUT_ACTION = "/api/actions/"


def _path(action_id: str) -> str:
    return f"{_ABOUT_ACTION}{quote(action_id, safe='')}"


def _issues(data: object) -> list[Issue]:
    return [
        Issue(issue["path"], issue["message"])
        for issue in objects_in(data)
        if isinstance(issue.get("path"), str) and isinstance(issue.get("message"), str)
    ]


def _delay(failures: int, asked: float | None) -> float:
    """Half is fixed and half random, so that many clients that were cut at once do not come back at once."""
    ceiling = min(LONGEST_RETRY_SECONDS, FIRST_RETRY_SECONDS * 2.0 ** min(failures + 1, 16))
    own = ceiling / 2 + random.random() * ceiling / 2
    return own if asked is None else max(own, min(asked, LONGEST_ASKED_SECONDS))


def retry_seconds(header: str | None) -> float | None:
    """``Retry-After`` in seconds, which may also be a date."""
    if header is None:
        return None
    if header.isascii() and header.strip().isdecimal():
        return float(header)
    try:
        at = parsedate_to_datetime(header)
    except (ValueError, TypeError):
        return None
    aware = at if at.tzinfo else at.replace(tzinfo=timezone.utc)
    return max(0.0, (aware - datetime.now(timezone.utc)).total_seconds())
