"""The arguments of a function as JSON, and the approved ones back as arguments."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Collection, Mapping
from typing import Any, cast

from .actions import Json

_IMPLICIT = ("self", "cls")


class Parameters:
    """The parameters of a gated function.

    :param local: Parameters that stay in this process: they are neither proposed nor shown, and passed on unchanged.
    :raises TypeError: Where the arguments could not be named on a card.
    """

    def __init__(self, function: Callable[..., object], local: Collection[str]) -> None:
        self._name = getattr(function, "__qualname__", repr(function))
        self._signature = inspect.signature(function)
        known = self._signature.parameters
        for name in local:
            if name not in known:
                raise TypeError(f"{self._name} has no parameter {name}, which local= names")
        for name, parameter in known.items():
            if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
                raise TypeError(f"{self._name} takes *{name}; a gated function needs a name for each argument")
        self._local = {*local, *(name for name in list(known)[:1] if name in _IMPLICIT)}

    def bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> inspect.BoundArguments:
        """The arguments of one call by name. :raises TypeError: where they do not fit the function."""
        return self._signature.bind(*args, **kwargs)

    def propose(self, bound: inspect.BoundArguments) -> dict[str, Json]:
        """The arguments to propose: defaults are filled in, except a default of None.

        :raises TypeError: for a value that JSON cannot hold, with its name; for two arguments of one name.
        """
        proposed: dict[str, Json] = {}
        for name, parameter in self._signature.parameters.items():
            if name in self._local:
                continue
            if parameter.kind is inspect.Parameter.VAR_KEYWORD:
                for key, value in bound.arguments.get(name, {}).items():
                    if self._is_taken(key):
                        raise TypeError(f"{self._name} got {key} twice, by place and by name; a card has room for one")
                    proposed[key] = self._json(key, value)
            elif name in bound.arguments:
                proposed[name] = self._json(name, bound.arguments[name])
            elif parameter.default is not None:
                proposed[name] = self._json(name, parameter.default)
        return proposed

    def approved(self, bound: inspect.BoundArguments, arguments: Mapping[str, Json]) -> inspect.BoundArguments:
        """The call with the approved arguments: the values of the call itself where their JSON was approved as it is, else
        that of the approval. So an enum or a tuple stays what it is.

        :raises TypeError: where they do not fit the function.
        """
        left = dict(arguments)
        call = self._signature.bind_partial()
        rest: str | None = None
        for name, parameter in self._signature.parameters.items():
            if name in self._local:
                if name in bound.arguments:
                    call.arguments[name] = bound.arguments[name]
            elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
                rest = name
            elif name in left:
                own = bound.arguments.get(name, parameter.default)
                call.arguments[name] = self._unchanged(name, own, left.pop(name))
            elif parameter.default is inspect.Parameter.empty:
                raise TypeError(f"{self._name} needs {name}, which the approved arguments do not have")
        if rest is not None:
            given = bound.arguments.get(rest, {})
            call.arguments[rest] = {
                key: self._unchanged(key, given[key], value) if key in given else value for key, value in left.items()
            }
        elif left:
            raise TypeError(f"{self._name} does not take {', '.join(left)}, which the approved arguments have")
        call.apply_defaults()
        return call

    def _is_taken(self, key: str) -> bool:
        """True for the name of a parameter that is only given by place: a keyword may have the same."""
        parameter = self._signature.parameters.get(key)
        return parameter is not None and parameter.kind is inspect.Parameter.POSITIONAL_ONLY and key not in self._local

    def _unchanged(self, name: str, own: object, approved: Json) -> object:
        """The own value where its JSON is the approved one now: it may have changed while the call waited."""
        if own is inspect.Parameter.empty:
            return approved
        try:
            return own if is_same(self._json(name, own), approved) else approved
        except TypeError:
            return approved

    def _json(self, name: str, value: object) -> Json:
        try:
            read: Json = json.loads(json.dumps(value, allow_nan=False))
            _require_text_keys(value)
        except (TypeError, ValueError, RecursionError) as cause:
            raise TypeError(f"{name} of {self._name} cannot be shown on a card, because it is not JSON: {cause}") from None
        return read


def _require_text_keys(value: object) -> None:
    """JSON makes texts of other keys: the function would find nothing under its own, and two of them may become one."""
    if isinstance(value, dict):
        for key, member in cast("dict[object, object]", value).items():
            if not isinstance(key, str):
                raise TypeError(f"the key {key!r} of a dict is no text")
            _require_text_keys(member)
    elif isinstance(value, (list, tuple)):
        for member in cast("list[object] | tuple[object, ...]", value):
            _require_text_keys(member)


def is_same(a: Json, b: Json) -> bool:
    """True for the same JSON: 1 is 1.0, as it is for the server, and not True, as it is for Python."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(is_same(member, b[key]) for key, member in a.items())
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(is_same, a, b))
    return isinstance(a, bool) == isinstance(b, bool) and a == b
