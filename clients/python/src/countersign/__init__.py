"""Asks people before a Python function runs.

>>> import countersign
>>> @countersign.gated(tool="shop.getOrder")
... def get_order(order_id: str) -> str:
...     return f"{order_id} is pending"
>>> get_order("ORD-001")
'ORD-001 is pending'
"""

from .actions import Action, ActionFault, ActionState, Claim, Effect, FaultKind, Json
from .client import AsyncClient, Client
from .errors import (
    ApiError,
    CallFailed,
    CountersignError,
    Issue,
    NotApproved,
    NothingDone,
    OutcomeUnknown,
    ToolMismatch,
)
from .gate import Gated, gated
from .version import __version__

__all__ = [
    "Action",
    "ActionFault",
    "ActionState",
    "ApiError",
    "AsyncClient",
    "CallFailed",
    "Claim",
    "Client",
    "CountersignError",
    "Effect",
    "FaultKind",
    "Gated",
    "Issue",
    "Json",
    "NotApproved",
    "NothingDone",
    "OutcomeUnknown",
    "ToolMismatch",
    "__version__",
    "gated",
]
