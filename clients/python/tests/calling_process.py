"""A process with one gated call, to be killed or interrupted: `python3 -m tests.calling_process KEY EFFECTS [TOOL]`.

With a tool the function says that it has begun, and never ends by itself. The tool `async` is shop.refund on asyncio.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from countersign import Json, gated


def main(key: str, effects: str, tool: str | None = None) -> None:
    if tool == "async":
        asyncio.run(main_async(key))
        return

    @gated(tool=tool or "shop.refund")
    def refund(order_id: str, cents: int) -> dict[str, Json]:
        with Path(effects).open("a") as file:
            file.write(f"{order_id} {cents}\n")
        if tool is not None:
            print("begun", flush=True)
            sys.stdin.read()
        return {"refunded": cents}

    print(refund.with_key(key)("ORD-1", 500))


async def main_async(key: str) -> None:
    @gated(tool="shop.refund")
    async def refund(order_id: str, cents: int) -> None:
        raise AssertionError("it ran")

    await refund.with_key(key)("ORD-1", 500)


if __name__ == "__main__":
    main(*sys.argv[1:])
