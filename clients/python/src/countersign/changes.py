"""What people changed before they approved a call, in words for a model."""

from __future__ import annotations

import json

from .actions import Action, Json, objects_in
from .parameters import is_same


def changed(action: Action, asked: Json) -> list[str]:
    """The names of the arguments that are not those of the call."""
    # Most revisions leave them as they are. Of the first one, the server only fills in defaults of the tool.
    if action.revision == 1 or action.raw.get("redactedAt") is not None or not isinstance(asked, dict):
        return []
    ran = action.arguments
    return [name for name in {**asked, **ran} if not (name in asked and name in ran and is_same(asked[name], ran[name]))]


def ran_with(action: Action) -> str:
    """Says which arguments ran, as the server does."""
    shown = json.dumps(action.arguments, ensure_ascii=False, separators=(",", ":"))
    for revised in objects_in([action.raw.get("revised")]):
        if revised.get("why") == "edit":
            names = [by["name"] for by in objects_in([revised.get("by")]) if isinstance(by.get("name"), str)]
            return f"Note: {(names or ['a person'])[0]} changed the arguments before approving. What ran had these: {shown}"
    return f"Note: what was approved is revision {action.revision}, with these arguments: {shown}"


def changed_text(action: Action, value: object) -> str:
    """The result for a model, with the arguments that ran.

    :param action: As it ended; as it was claimed where the server did not take the value.
    """
    if action.state == "succeeded":
        for outcome in objects_in([action.raw.get("outcome")]):
            if isinstance(outcome.get("text"), str):
                return str(outcome["text"])
    said = value if isinstance(value, str) else f"This was carried out ({action.id})."
    return f"{said} {ran_with(action)}"
