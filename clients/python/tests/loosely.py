"""`gated` with settings that are put together at run time, which no type checker can follow."""

from typing import Any, cast

from countersign import gated

loosely_gated = cast("Any", gated)
