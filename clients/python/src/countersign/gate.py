"""``@gated``: a function that runs when a person, or a policy, has approved the call."""

from __future__ import annotations

import functools
import hashlib
import inspect
import re
import types
from collections.abc import Callable, Collection, Coroutine, Mapping
from typing import Any, Literal, ParamSpec, Protocol, TypeVar, cast, overload

from .actions import Effect, Json
from .calls import Calls, Connection, new_key
from .changes import changed, changed_text, ran_with
from .client import AsyncClient, Client, proposal
from .errors import ApiError, CallFailed, NotApproved, NothingDone, OutcomeUnknown
from .fit import unfit
from .flow import Work, log, perform
from .io import AsyncioIo, BlockingIo, run_blocking
from .parameters import Parameters
from .registration import Registration

P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)

#: Refusals of the server that are about the call itself, so that a model can do something about them.
_FOR_THE_MODEL = ("invalid_arguments", "impossible", "too_many_waiting")


class Gated(Protocol[P, R_co]):
    """A gated function: called like the function itself."""

    __name__: str

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co: ...

    def with_key(self, key: str, /) -> Callable[P, R_co]:
        """The same function for one call with this idempotency key: the same key is the same call, and runs once.

        Of a method, it takes the object as its first argument.
        """
        ...

    def __get__(self, instance: object, owner: type | None = None, /) -> Callable[..., R_co]: ...


class RaisingGate(Protocol):
    """What ``gated(…)`` returns: a decorator."""

    def __call__(self, function: Callable[P, R], /) -> Gated[P, R]: ...


class TextGate(Protocol):
    """What ``gated(…, on_refusal="text")`` returns: a decorator of functions that may return a text instead."""

    @overload
    def __call__(self, function: Callable[P, Coroutine[Any, Any, R]], /) -> Gated[P, Coroutine[Any, Any, R | str]]: ...

    @overload
    def __call__(self, function: Callable[P, R], /) -> Gated[P, R | str]: ...


@overload
def gated(
    client: Client | AsyncClient | None = None,
    *,
    tool: str,
    effect: Effect | None = None,
    key: Callable[..., str] | None = None,
    local: Collection[str] = (),
    description: str | None = None,
    agent: str | None = None,
    expires_in: str | None = None,
    callback: str | None = None,
    context: Mapping[str, str] | Callable[..., Mapping[str, str]] | None = None,
    register: Mapping[str, Any] | None = None,
    on_refusal: Literal["raise"] = "raise",
    nothing_done: tuple[type[Exception], ...] = (),
    to_json: Callable[[Any], Json] | None = None,
) -> RaisingGate: ...


@overload
def gated(
    client: Client | AsyncClient | None = None,
    *,
    tool: str,
    effect: Effect | None = None,
    key: Callable[..., str] | None = None,
    local: Collection[str] = (),
    description: str | None = None,
    agent: str | None = None,
    expires_in: str | None = None,
    callback: str | None = None,
    context: Mapping[str, str] | Callable[..., Mapping[str, str]] | None = None,
    register: Mapping[str, Any] | None = None,
    on_refusal: Literal["text"],
    nothing_done: tuple[type[Exception], ...] = (),
    to_json: Callable[[Any], Json] | None = None,
) -> TextGate: ...


def gated(
    client: Client | AsyncClient | None = None,
    *,
    tool: str,
    effect: Effect | None = None,
    key: Callable[..., str] | None = None,
    local: Collection[str] = (),
    description: str | None = None,
    agent: str | None = None,
    expires_in: str | None = None,
    callback: str | None = None,
    context: Mapping[str, str] | Callable[..., Mapping[str, str]] | None = None,
    register: Mapping[str, Any] | None = None,
    on_refusal: Literal["raise", "text"] = "raise",
    nothing_done: tuple[type[Exception], ...] = (),
    to_json: Callable[[Any], Json] | None = None,
) -> Any:
    """Makes a function, plain or ``async def``, run only after its call was approved, with the approved arguments.

    Each call is proposed, waited for, claimed, carried out once and reported. Cancelling while it waits (Ctrl-C, or the
    task's own cancellation) withdraws it. The tool has ``executor: client`` on the server.

    :param client: Default: one from ``COUNTERSIGN_URL`` and ``COUNTERSIGN_KEY``, made at the first call.
    :param tool: Name of the tool on the server.
    :param effect: ``read`` or ``write``, as you mean it. Where the server says otherwise, nothing runs.
    :param key: Makes the idempotency key from the same arguments. A call with the same key goes on with the same
        action, also in another process, and never runs it twice. Default: a random key each time.
    :param local: Names of parameters that stay here, such as a framework's context: neither proposed nor shown.
    :param description: Your own words for the card, shown as not verified.
    :param agent: Name of the agent, where the key does not prove one: shown as not verified.
    :param expires_in: How long people may take, such as ``PT1H``.
    :param callback: Where the server sends a signed event when a call can be carried out or has ended, for when this
        process is gone by then: an address that an admin opened for callbacks.
    :param context: ``run``, ``url`` and ``reason``, or a function that makes them from the same arguments: shown as not
        verified. A call with the same ``key`` needs the same.
    :param register: Registers the tool with the server before its first call, so that the configuration need not declare
        it: ``input``, a JSON Schema of the arguments, and as you like ``description`` (default: the docstring),
        ``describe`` and ``risk``. What it says is shown as not verified, and every call counts as a write.
    :param on_refusal: ``raise`` raises :class:`NotApproved` and its kin; ``text`` returns a sentence for the model. Where
        people changed the arguments, ``text`` returns the recorded result as text, with the arguments that ran.
    :param nothing_done: Exceptions after which nothing was changed for certain, so that the action is ``failed``. After
        any other the outcome of a write is unknown. The function may also raise :class:`NothingDone`.
    :param to_json: Makes the recorded result from what the function returns. Default: the value itself.
    :raises TypeError: For a function whose arguments cannot be named, and at a call for arguments that are not JSON.

    >>> from countersign import gated
    >>> @gated(tool="shop.getOrder", effect="read")
    ... def get_order(order_id: str) -> dict[str, str]:
    ...     return {"id": order_id, "status": "pending"}
    >>> get_order("ORD-001")
    {'id': 'ORD-001', 'status': 'pending'}
    """
    connection = _once(client)

    def decorate(function: Callable[..., Any]) -> Any:
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise TypeError("a gated function returns one result; it cannot be a generator")
        parameters = Parameters(function, local)
        registration = None if register is None else Registration(tool, effect, function, register)
        is_async = inspect.iscoroutinefunction(function)

        def work_for(given: str | None, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Work[Any]:
            bound = parameters.bind(args, kwargs)
            told = context(*args, **kwargs) if callable(context) else context
            body = proposal(tool, parameters.propose(bound), description, agent, expires_in, callback, told)
            if given is None and key is not None:
                given = key(*args, **kwargs)

            def prepare(approved: Mapping[str, Json]) -> Callable[[], Coroutine[Any, Any, Any]]:
                call = parameters.approved(bound, approved)
                if is_async:
                    return lambda: function(*call.args, **call.kwargs)
                return lambda: _call_plain(function, call)

            used = new_key() if given is None else usable_key(given)
            # Of a registered tool, the effect is only claimed.
            return Work(tool, effect if registration is None else None, body, used, prepare, to_json, nothing_done)

        async def answer(calls: Calls, work: Work[Any]) -> Any:
            try:
                if registration is not None:
                    await registration.send(calls)
                done = await perform(calls, work)
            except (NotApproved, CallFailed, OutcomeUnknown, ApiError) as refusal:
                is_own = any(refusal is error for error in work.raised)
                text = refusal_text(refusal, work.body["arguments"]) if on_refusal == "text" and not is_own else None
                if text is None:
                    raise
                return text
            names = changed(done.action, work.body["arguments"])
            if names and on_refusal == "text":
                return changed_text(done.action, done.value)
            if names:
                log.warning("%s (%s) ran with other arguments: people changed %s.", tool, done.action.id, ", ".join(names))
            return done.value

        if is_async:

            async def start_async(given: str | None, /, *args: Any, **kwargs: Any) -> Any:
                return await answer(Calls(connection(), AsyncioIo()), work_for(given, args, kwargs))

            async def wrapper_async(*args: Any, **kwargs: Any) -> Any:
                return await start_async(None, *args, **kwargs)

            return _disguise(wrapper_async, function, start_async)

        def start(given: str | None, /, *args: Any, **kwargs: Any) -> Any:
            return run_blocking(answer(Calls(connection(), BlockingIo()), work_for(given, args, kwargs)))

        def wrapper(*args: Any, **kwargs: Any) -> Any:
            return start(None, *args, **kwargs)

        return _disguise(wrapper, function, start)

    return decorate


def refusal_text(refusal: NotApproved | CallFailed | OutcomeUnknown | ApiError, asked: Json = None) -> str | None:
    """A sentence for a model; None for a trouble with the server, which no model can do anything about.

    :param asked: The arguments of the call.
    """
    if isinstance(refusal, NotApproved) and not refusal.was_approved:
        return f"This was not done, because it was not approved: {refusal.reason}"
    if isinstance(refusal, (NotApproved, CallFailed)):
        return f"This was not done: {refusal.reason}"
    if isinstance(refusal, OutcomeUnknown):
        return f"{refusal} {ran_with(refusal.action)}" if changed(refusal.action, asked) else str(refusal)
    if refusal.code == "bad_request":
        why = unfit(asked)
        return None if why is None else f"This was not done: {why}"
    if refusal.code not in _FOR_THE_MODEL:
        return None
    more = [f"{issue.path} {issue.message}".strip() for issue in refusal.issues if issue.message not in refusal.detail]
    return f"This was not done: {'; '.join(words.removesuffix('.') for words in [refusal.detail, *more])}."


def usable_key(key: str) -> str:
    """The key as it is sent: as it is, or its hash where the server would not take it (255 printable characters).

    :raises TypeError: for anything but a text; :raises ValueError: for an empty one.
    """
    if not isinstance(key, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"an idempotency key is a text, not {type(key).__name__}")
    if key == "":
        raise ValueError("an idempotency key must not be empty")
    if re.fullmatch(r"[\x21-\x7e]{1,255}", key):
        return key
    return f"sha256:{hashlib.sha256(key.encode('utf-8', 'surrogatepass')).hexdigest()}"


def _once(client: Client | AsyncClient | None) -> Callable[[], Connection]:
    if client is not None:
        connection = client.connection
        return lambda: connection
    return functools.cache(lambda: Client().connection)


def _disguise(wrapper: Any, function: Callable[..., Any], start: Callable[..., Any]) -> Any:
    """The wrapper, which frameworks see as the function: its name, words, signature and types."""
    names = getattr(function, "__globals__", wrapper.__globals__)
    # Types are read among the names of the function's own module. The code of the wrapper needs none but its closure.
    gated_function: Any = types.FunctionType(wrapper.__code__, names, wrapper.__name__, None, wrapper.__closure__)
    functools.update_wrapper(gated_function, function)
    # inspect.unwrap() would follow it around the gate.
    del gated_function.__wrapped__
    gated_function.__signature__ = inspect.signature(function)

    def with_key(key: str, /) -> Callable[..., Any]:
        # Already here: what is no key must not become a call without one.
        return functools.partial(start, usable_key(key))

    gated_function.with_key = with_key
    return gated_function


async def _call_plain(function: Callable[..., Any], call: inspect.BoundArguments) -> Any:
    value = function(*call.args, **call.kwargs)
    if inspect.iscoroutine(value):
        cast("Coroutine[Any, Any, Any]", value).close()
        raise NothingDone("the function returned a coroutine that was not awaited; declare it with async def")
    return value
