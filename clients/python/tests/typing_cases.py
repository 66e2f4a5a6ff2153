"""What type checkers see; nothing of it runs."""

from typing import assert_type

from countersign import gated


@gated(tool="shop.refund")
def plain(order_id: str, cents: int = 5) -> float:
    raise NotImplementedError


@gated(tool="shop.refund")
async def coroutine(order_id: str) -> float:
    raise NotImplementedError


@gated(tool="shop.refund", on_refusal="text")
def plain_text(order_id: str) -> float:
    raise NotImplementedError


@gated(tool="shop.refund", on_refusal="text")
async def coroutine_text(order_id: str) -> float:
    raise NotImplementedError


class Desk:
    @gated(tool="shop.refund")
    def refund(self, order_id: str) -> float:
        raise NotImplementedError


async def cases() -> None:
    assert_type(Desk().refund("ORD-1"), float)
    assert_type(plain("ORD-1", cents=3), float)
    assert_type(plain.with_key("call-1")("ORD-1"), float)
    assert_type(await coroutine("ORD-1"), float)
    assert_type(plain_text("ORD-1"), float | str)
    assert_type(await coroutine_text("ORD-1"), float | str)
    assert_type(await coroutine_text.with_key("call-1")("ORD-1"), float | str)
    plain(1)  # type: ignore[arg-type]
