"""`@gated` on `async def`, and :class:`AsyncClient`."""

from __future__ import annotations

import asyncio
import threading
import unittest
from collections.abc import Callable
from typing import Any

from countersign import AsyncClient, Json, NotApproved, gated

from .effects import Effects
from .fault_proxy import FaultProxy, Seen
from .loosely import loosely_gated
from .real_server import PATIENCE, Inbox, RealServer, start_for_module

server: RealServer


def setUpModule() -> None:
    global server
    server = start_for_module()


def order_of(order_id: str, cents: int) -> str:
    return order_id


async def never(order_id: str, cents: int) -> None:
    raise AssertionError("it ran")


class Async(unittest.IsolatedAsyncioTestCase):
    def setUp(self) -> None:
        self.client = AsyncClient(server.url, server.agent_key)
        self.effects = self.enterContext(Effects())
        self.inbox = self.enterContext(Inbox(server))

    def refund(self, *, tool: str = "shop.refund", **more: Any) -> Any:
        async def refund(order_id: str, cents: int) -> dict[str, Json]:
            await asyncio.sleep(0)
            self.effects.add(f"{order_id} {cents}")
            return {"refunded": cents}

        return loosely_gated(self.client, tool=tool, **more)(refund)

    async def proposed(self) -> Any:
        return await asyncio.to_thread(self.inbox.proposed)

    async def test_a_coroutine_runs_once_with_the_approved_arguments(self) -> None:
        calling = asyncio.create_task(self.refund()("ORD-1", 500))
        action = await self.proposed()
        await asyncio.to_thread(server.approve, action["id"], arguments={"order_id": "ORD-1", "cents": 300})
        self.assertEqual(await calling, {"refunded": 300})
        self.assertEqual(server.action(action["id"], until="settled")["result"], {"refunded": 300})
        self.assertEqual(self.effects.all, ["ORD-1 300"])

    async def test_a_declined_coroutine_raises_or_answers_the_reason(self) -> None:
        calling = asyncio.create_task(self.refund()("ORD-1", 500))
        server.decline((await self.proposed())["id"], "No.")
        with self.assertRaisesRegex(NotApproved, "No."):
            await calling
        calling = asyncio.create_task(self.refund(on_refusal="text")("ORD-1", 500))
        server.decline((await self.proposed())["id"], "No.")
        self.assertEqual(await calling, "This was not done, because it was not approved: No.")
        self.assertEqual(self.effects.all, [])

    async def test_a_cancelled_task_withdraws_what_waits(self) -> None:
        calling = asyncio.create_task(self.refund()("ORD-1", 500))
        action = await self.proposed()
        calling.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await calling
        self.assertEqual(server.action(action["id"])["error"]["kind"], "withdrawn")
        self.assertEqual(self.effects.all, [])

    async def test_a_timeout_around_the_call_withdraws_it(self) -> None:
        with self.assertRaises(TimeoutError):
            async with asyncio.timeout(0.5):
                await self.refund()("ORD-1", 500)
        # It may have been proposed by the cleaning up alone; either way nothing of it is left.
        self.assertEqual(server.action((await self.proposed())["id"])["state"], "cancelled")
        self.assertEqual(self.effects.all, [])

    async def test_a_task_cancelled_at_any_moment_leaves_nothing_that_waits_or_is_held(self) -> None:
        refund = self.refund()
        for turns in range(0, 40, 2):
            task = asyncio.create_task(refund(f"ORD-{turns}", 1))
            for _ in range(turns):
                await asyncio.sleep(0.001)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        left = server.admin("GET", "/api/actions?state=proposed,approved,executing")["items"]
        self.assertEqual([action["id"] for action in left], [])
        self.assertEqual(self.effects.all, [])

    async def test_a_read_cancelled_at_any_moment_is_run_and_reported_or_never_runs(self) -> None:
        @gated(self.client, tool="shop.getOrder")
        async def get_order(order_id: str) -> str:
            await asyncio.sleep(0)
            self.effects.add(order_id)
            return order_id

        for turns in range(0, 60, 3):
            task = asyncio.create_task(get_order(f"ORD-{turns}"))
            for _ in range(turns):
                await asyncio.sleep(0.0005)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        found = server.admin("GET", "/api/actions?tool=shop.getOrder&limit=200")["items"]
        self.assertEqual([a["id"] for a in found if a["state"] in ("proposed", "approved", "executing")], [])
        ran = {a["arguments"]["order_id"] for a in found if a["state"] == "succeeded"}
        self.assertLessEqual(ran, set(self.effects.all))
        self.assertEqual(len(self.effects.all), len(set(self.effects.all)))

    async def test_a_task_cancelled_while_the_function_runs_is_reported(self) -> None:
        begun = asyncio.Event()

        @gated(self.client, tool="shop.refund")
        async def refund(order_id: str, cents: int) -> None:
            begun.set()
            await asyncio.Event().wait()

        calling = asyncio.create_task(refund("ORD-1", 500))
        action = await self.proposed()
        server.approve(action["id"])
        await begun.wait()
        calling.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await calling
        settled = server.action(action["id"])
        self.assertEqual(settled["state"], "outcome_unknown")
        self.assertEqual(settled["error"]["message"], "It was stopped while it ran (CancelledError).")

    async def cancel_at(self, step: str) -> Any:
        """Cancels a call while the first answer of a step is on its way, and returns its action."""
        reached, go_on = threading.Event(), threading.Event()
        self.addCleanup(go_on.set)

        def hold_back(seen: Seen, forward: Callable[[], bytes]) -> bytes | None:
            if seen.step != step or reached.is_set():
                return forward()
            # A claim was stored; a result was lost on its way there.
            whole = forward() if step == "claim" else None
            reached.set()
            go_on.wait(PATIENCE)
            return whole

        proxy = self.enterContext(FaultProxy(server.port, hold_back))

        @gated(AsyncClient(proxy.url, server.agent_key), tool="shop.refund")
        async def refund(order_id: str, cents: int) -> int:
            self.effects.add(order_id)
            return cents

        calling = asyncio.create_task(refund("ORD-1", 500))
        action = await self.proposed()
        server.approve(action["id"])
        self.assertTrue(await asyncio.to_thread(reached.wait, PATIENCE))
        calling.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await calling
        # The answer is held back still, and nobody waits for it any more.
        for thread in threading.enumerate():
            if thread.name == "countersign":
                # By itself, the request would end after 30 s. While the machine stands still, no look is lost.
                for _ in range(400):
                    thread.join(0.05)
                self.assertFalse(thread.is_alive(), "a request goes on although its task was cancelled")
        return server.action(action["id"])

    async def test_a_task_cancelled_while_it_claims_runs_nothing_and_says_so(self) -> None:
        action = await self.cancel_at("claim")
        self.assertEqual((action["state"], action["error"]["kind"]), ("failed", "unreachable"))
        self.assertEqual(action["error"]["message"], "The program was stopped before it carried this out.")
        self.assertEqual(self.effects.all, [])

    async def test_a_task_cancelled_while_it_reports_has_reported(self) -> None:
        action = await self.cancel_at("result")
        self.assertEqual((action["state"], action["result"]), ("succeeded", 500))
        self.assertEqual(self.effects.all, ["ORD-1"])

    async def test_a_task_cancelled_while_it_proposes_leaves_nothing_that_waits(self) -> None:
        reached, go_on = threading.Event(), threading.Event()
        self.addCleanup(go_on.set)

        def hold_back(seen: Seen, forward: Callable[[], bytes]) -> bytes | None:
            whole = forward()
            if seen.step == "propose" and not reached.is_set():
                reached.set()
                go_on.wait(PATIENCE)
            return whole

        proxy = self.enterContext(FaultProxy(server.port, hold_back))
        refund = gated(AsyncClient(proxy.url, server.agent_key), tool="shop.refund")(never)
        calling = asyncio.create_task(refund("ORD-1", 500))
        action = await self.proposed()
        self.assertTrue(await asyncio.to_thread(reached.wait, PATIENCE))
        calling.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await calling
        self.assertEqual(server.action(action["id"])["error"]["kind"], "withdrawn")
        self.assertEqual(len({seen.headers["idempotency-key"] for seen in proxy.steps("propose")}), 1)

    async def test_many_calls_wait_at_once_and_neither_the_loop_nor_its_threads_are_blocked(self) -> None:
        refund = self.refund(key=order_of)
        calls = [asyncio.create_task(refund(f"many-{n}", n)) for n in range(1, 41)]
        # These need a thread of the loop's own pool, which has far fewer than there are calls.
        waiting = [await self.proposed() for _ in calls]
        for action in waiting:
            await asyncio.to_thread(server.approve, action["id"])
        self.assertEqual(await asyncio.gather(*calls), [{"refunded": n} for n in range(1, 41)])
        self.assertEqual(len(self.effects.all), 40)

    async def test_a_failure_is_one_that_can_be_tried_again_where_its_report_says_so(self) -> None:
        async def reported(**more: bool) -> tuple[str, bool | None]:
            action = await self.client.propose("shop.refund", {"order_id": "ORD-1", "cents": 5})
            server.approve(action.id)
            await self.client.wait(action.id)
            claim = await self.client.claim(action.id)
            failed = await self.client.report_error(claim, "No.", kind="refused", **more)
            return failed.state, None if failed.error is None else failed.error.retryable

        self.assertEqual(await reported(), ("failed", False))
        self.assertEqual(await reported(retryable=True), ("failed", True))
        self.assertEqual(await reported(retryable=False), ("failed", False))

    async def test_the_client_does_each_step_by_itself(self) -> None:
        action = await self.client.propose("shop.refund", {"order_id": "ORD-1", "cents": 5})
        with self.assertRaises(TimeoutError):
            await self.client.wait(action.id, timeout=0.1)
        server.approve(action.id)
        self.assertEqual((await self.client.wait(action.id)).state, "approved")
        claim = await self.client.claim(action.id)
        self.assertEqual((await self.client.get(action.id)).state, "executing")
        self.assertEqual((await self.client.report_error(claim, "No.", kind="refused")).state, "failed")
        action = await self.client.propose("shop.refund", {"order_id": "ORD-1", "cents": 5})
        self.assertEqual((await self.client.withdraw(action.id)).state, "cancelled")
        action = await self.client.propose("shop.getOrder", {"order_id": "ORD-1"})
        reported = await self.client.report(await self.client.claim(action.id), {"status": "pending"})
        self.assertEqual((reported.state, reported.result), ("succeeded", {"status": "pending"}))
