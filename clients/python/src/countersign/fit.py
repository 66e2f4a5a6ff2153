"""JSON as the server takes it: no number beyond ±(2^53 - 1), and no half of a surrogate pair."""

from __future__ import annotations

import json
import re

from .actions import Json

LARGEST = 2**53 - 1
_HALVES = re.compile("[\ud800-\udfff]")


def fit(value: Json) -> Json:
    """The same with the text of each long number, and U+FFFD for half a character: one of them must not cost the rest.

    :raises ValueError: Where two keys of a dict would become one.
    """
    if isinstance(value, str):
        return _HALVES.sub("\ufffd", value)
    if isinstance(value, (int, float)):
        return json.dumps(value) if abs(value) > LARGEST else value
    if isinstance(value, list):
        return [fit(member) for member in value]
    if isinstance(value, dict):
        fitting = {_HALVES.sub("\ufffd", key): fit(member) for key, member in value.items()}
        if len(fitting) < len(value):
            raise ValueError("two of its keys differ in half a character only")
        return fitting
    return value


def unfit(arguments: Json) -> str | None:
    """Which argument the server does not take, as a sentence for a model; None where it takes them all."""
    for name, value in arguments.items() if isinstance(arguments, dict) else ():
        for found in _scalars(value):
            if isinstance(found, str) and _HALVES.search(found):
                return f"{fit(name)} has half of a character, which cannot be passed on."
            if isinstance(found, (int, float)) and abs(found) > LARGEST:
                return f"{fit(name)} has a number beyond ±{LARGEST}, which cannot be passed on."
        if _HALVES.search(name):
            return f"{fit(name)} has half of a character in its name, which cannot be passed on."
    return None


def _scalars(value: Json) -> list[Json]:
    """The keys and values of all levels."""
    if isinstance(value, list):
        return [found for member in value for found in _scalars(member)]
    if isinstance(value, dict):
        return [found for key, member in value.items() for found in (key, *_scalars(member))]
    return [value]
