"""What `@gated` promises, against a real server."""

from __future__ import annotations

import logging
import unittest
from collections.abc import Callable
from typing import Any

from countersign import ApiError, CallFailed, Client, Json, NotApproved, NothingDone, OutcomeUnknown, ToolMismatch, gated

from .effects import Effects
from .in_thread import InThread
from .loosely import loosely_gated
from .real_server import Inbox, RealServer, start_for_module

server: RealServer


def setUpModule() -> None:
    global server
    server = start_for_module()


def key_of_order(order_id: str, cents: int) -> str:
    return f"thread-1:{order_id}"


def mixed_key(order_id: str, cents: int) -> str:
    return "mixed"


def fast_key(order_id: str, cents: int) -> str:
    return "fast"


class Named(str):
    """A text of a type of its own, as a member of a StrEnum is."""


class Gated(unittest.TestCase):
    def setUp(self) -> None:
        self.client = Client(server.url, server.agent_key)
        self.effects = self.enterContext(Effects())
        self.inbox = self.enterContext(Inbox(server))

    def refund(self, *, tool: str = "shop.refund", **more: Any) -> Any:
        """A gated function that writes down what it did."""

        def refund(order_id: str, cents: int, note: str | None = None) -> dict[str, Json]:
            self.effects.add(f"{order_id} {cents}")
            return {"refunded": cents}

        return loosely_gated(self.client, tool=tool, **more)(refund)

    def failing(self, error: BaseException, **more: Any) -> Any:
        def refund(order_id: str, cents: int) -> None:
            raise error

        return loosely_gated(self.client, tool="shop.refund", **more)(refund)

    def returning(self, result: object) -> Callable[[str], object]:
        @gated(self.client, tool="shop.getOrder")
        def get_order(order_id: str) -> object:
            return result

        return get_order

    def outcome_of(self, call: Callable[..., Any], *args: Any) -> tuple[BaseException, Any]:
        """What a call raised after its approval, and its action."""
        calling = InThread(lambda: call(*args))
        action = self.inbox.proposed()
        server.approve(action["id"])
        with self.assertRaises(Exception) as raised:
            calling.result()
        return raised.exception, server.action(action["id"])

    def test_a_read_that_policy_allows_runs_by_itself(self) -> None:
        @gated(self.client, tool="shop.getOrder", effect="read")
        def get_order(order_id: str) -> str:
            self.effects.add(order_id)
            return f"{order_id} is pending"

        self.assertEqual(get_order("ORD-001"), "ORD-001 is pending")
        action = server.action(self.inbox.proposed()["id"], until="settled")
        self.assertEqual((action["state"], action["result"]), ("succeeded", "ORD-001 is pending"))
        self.assertEqual(self.effects.all, ["ORD-001"])

    def test_a_write_waits_for_a_person_and_runs_once(self) -> None:
        calling = InThread(lambda: self.refund(description="The customer asked.")("ORD-1", cents=500))
        action = self.inbox.proposed()
        self.assertEqual((action["state"], action["arguments"]), ("proposed", {"order_id": "ORD-1", "cents": 500}))
        self.assertEqual((action["description"], action["agentSays"]), ("Refund 500 cents of ORD-1", "The customer asked."))
        self.assertEqual(self.effects.all, [])
        server.approve(action["id"])
        self.assertEqual(calling.result(), {"refunded": 500})
        settled = server.action(action["id"], until="settled")
        self.assertEqual((settled["state"], settled["result"]), ("succeeded", {"refunded": 500}))
        self.assertEqual(self.effects.all, ["ORD-1 500"])

    def test_a_callback_is_named_with_the_call_and_an_address_that_is_not_open_is_refused(self) -> None:
        with self.assertRaises(ApiError) as refused:
            self.refund(callback="https://elsewhere.example/hook")("ORD-1", cents=500)
        self.assertEqual(refused.exception.code, "forbidden")
        webhook = {"url": "https://agents.example.invalid/hook", "callbacks": True, "events": []}
        made = server.admin("POST", "/api/webhooks", webhook)
        self.addCleanup(server.admin, "DELETE", f"/api/webhooks/{made['id']}")
        calling = InThread(lambda: self.refund(callback="https://agents.example.invalid/hook/7")("ORD-1", cents=500))
        action = self.inbox.proposed()
        self.assertEqual(action["callback"], {"host": "agents.example.invalid"})
        server.approve(action["id"])
        self.assertEqual(calling.result(), {"refunded": 500})

    def test_run_address_and_reason_are_named_with_the_call(self) -> None:
        def context(order_id: str, cents: int) -> dict[str, str]:
            return {"run": "nightly", "url": "https://ci.example.com/1", "reason": f"{order_id} came back."}

        alone = {"reason": "It came back."}
        for given, named in ((context, context("ORD-1", 500)), (alone, alone)):
            calling = InThread(lambda given=given: self.refund(context=given)("ORD-1", cents=500))
            action = self.inbox.proposed()
            self.assertEqual(action["context"], named)
            server.approve(action["id"])
            self.assertEqual(calling.result(), {"refunded": 500})

    def test_a_declined_call_never_runs_and_raises_the_reason(self) -> None:
        calling = InThread(lambda: self.refund()("ORD-1", 500))
        server.decline(self.inbox.proposed()["id"], "Ask the customer first.")
        with self.assertRaises(NotApproved) as raised:
            calling.result()
        self.assertEqual((raised.exception.state, raised.exception.reason), ("declined", "Ask the customer first."))
        self.assertEqual(self.effects.all, [])

    def test_a_declined_call_is_a_text_for_the_model_where_that_is_asked_for(self) -> None:
        calling = InThread(lambda: self.refund(on_refusal="text")("ORD-1", 500))
        server.decline(self.inbox.proposed()["id"], "Ask the customer first.")
        text = "This was not done, because it was not approved: Ask the customer first."
        self.assertEqual(calling.result(), text)
        self.assertEqual(self.effects.all, [])

    def test_a_call_that_policy_denies_is_refused_at_once_with_the_rule(self) -> None:
        with self.assertRaises(NotApproved) as raised:
            self.refund(tool="shop.forbidden")("ORD-1", 500)
        self.assertIn("never", raised.exception.reason)
        self.assertEqual(self.effects.all, [])

    def test_arguments_that_the_tool_does_not_take_are_a_text_that_names_them(self) -> None:
        text = self.refund(on_refusal="text")("ORD-1", 200_000)
        self.assertRegex(text, r"^This was not done: .*cents.*[^.]\.$")
        self.assertEqual(text.count("cents"), 1, text)
        self.assertEqual(self.effects.all, [])

    def test_a_call_approved_with_edits_runs_with_the_edited_arguments(self) -> None:
        calling = InThread(lambda: self.refund()("ORD-1", 500, note="as asked"))
        action = self.inbox.proposed()
        server.approve(action["id"], arguments={"order_id": "ORD-1", "cents": 400})
        self.assertEqual(calling.result(), {"refunded": 400})
        self.assertEqual(self.effects.all, ["ORD-1 400"])
        self.assertEqual(server.action(action["id"])["arguments"], {"order_id": "ORD-1", "cents": 400})

    def test_a_model_is_told_which_other_arguments_ran(self) -> None:
        for attempt in ("first", "again"):
            refund = self.refund(on_refusal="text").with_key("edited")
            calling = InThread(lambda refund=refund: refund("ORD-1", 50_000))
            if attempt == "first":
                server.approve(self.inbox.proposed()["id"], arguments={"order_id": "ORD-1", "cents": 400})
            text = calling.result()
            self.assertRegex(text, r'^{"refunded":400} Note: .* changed the arguments before approving\.')
            self.assertIn('{"cents":400,"order_id":"ORD-1"}', text)
        self.assertEqual(self.effects.all, ["ORD-1 400"])

    def test_a_model_is_told_which_other_arguments_ran_where_the_server_does_not_take_the_result(self) -> None:
        def refund(order_id: str, cents: int) -> str:
            return "x" * 3_000_000

        calling = InThread(lambda: loosely_gated(self.client, tool="shop.refund", on_refusal="text")(refund)("ORD-1", 500))
        server.approve(self.inbox.proposed()["id"], arguments={"order_id": "ORD-1", "cents": 400})
        self.assertRegex(calling.result(), r'^x{3000000} Note: .*"cents":400')

    def test_a_model_is_told_which_other_arguments_a_call_of_unknown_outcome_had(self) -> None:
        failing = self.failing(ValueError("x")).with_key("edited and lost")
        calling = InThread(lambda: failing("ORD-1", 500))
        server.approve(self.inbox.proposed()["id"], arguments={"order_id": "ORD-1", "cents": 400})
        self.assertRaises(ValueError, calling.result)
        text = self.refund(on_refusal="text").with_key("edited and lost")("ORD-1", 500)
        self.assertRegex(text, r'^It is not known whether .*"cents":400')

    def test_a_program_that_is_told_nothing_in_words_gets_its_value_and_a_warning_that_names_what_people_changed(self) -> None:
        logging.disable(logging.NOTSET)
        self.addCleanup(logging.disable, logging.WARNING)
        calling = InThread(lambda: self.refund()("ORD-1", 500))
        action = self.inbox.proposed()
        with self.assertLogs("countersign", "WARNING") as logs:
            server.approve(action["id"], arguments={"order_id": "ORD-1", "cents": 400})
            self.assertEqual(calling.result(), {"refunded": 400})
        words = f"shop.refund ({action['id']}) ran with other arguments: people changed cents."
        self.assertEqual([record.getMessage() for record in logs.records], [words])

    def test_an_argument_that_nobody_edited_reaches_the_function_as_it_was_given(self) -> None:
        given = Named("ORD-1")
        received: list[object] = []

        @gated(self.client, tool="shop.refund")
        def refund(order_id: str, cents: int) -> None:
            received.append(order_id)

        calling = InThread(lambda: refund(given, 500))
        server.approve(self.inbox.proposed()["id"], arguments={"order_id": "ORD-1", "cents": 400})
        calling.result()
        self.assertIs(received[0], given)

    def test_edits_that_the_function_does_not_take_run_nothing_and_are_reported(self) -> None:
        @gated(self.client, tool="shop.refund")
        def refund(order_id: str, cents: int) -> None:
            self.effects.add(order_id)

        calling = InThread(lambda: refund("ORD-1", 500))
        action = self.inbox.proposed()
        server.approve(action["id"], arguments={"order_id": "ORD-1", "cents": 400, "note": "half"})
        with self.assertRaisesRegex(CallFailed, "does not take note"):
            calling.result()
        self.assertEqual(self.effects.all, [])
        settled = server.action(action["id"])
        self.assertEqual((settled["state"], settled["error"]["kind"]), ("failed", "broken"))

    def test_a_call_that_nobody_decides_expires_and_never_runs(self) -> None:
        with self.assertRaises(NotApproved) as raised:
            self.refund(expires_in="PT1S")("ORD-1", 500)
        self.assertEqual(raised.exception.state, "expired")
        self.assertEqual(raised.exception.reason, server.action(raised.exception.action.id)["outcome"]["text"])
        self.assertRegex(raised.exception.reason, "^Nobody decided about this in time")
        self.assertEqual(self.effects.all, [])

    def test_an_exception_leaves_the_outcome_of_a_write_unknown_with_its_words(self) -> None:
        error = TimeoutError("the bank did not answer")
        raised, action = self.outcome_of(self.failing(error), "ORD-1", 1)
        self.assertIs(raised, error)
        self.assertEqual(action["state"], "outcome_unknown")
        self.assertEqual(action["error"]["message"], "TimeoutError: the bank did not answer")

    def test_an_exception_after_which_nothing_was_changed_is_a_failure_with_its_words(self) -> None:
        for error, more in (
            (NothingDone("there is no such order"), {}),
            (KeyError("ORD-1"), {"nothing_done": (LookupError,)}),
        ):
            raised, action = self.outcome_of(self.failing(error, **more), "ORD-1", 1)
            self.assertIs(raised, error)
            self.assertEqual((action["state"], action["error"]["kind"]), ("failed", "refused"))
            self.assertEqual(action["error"]["message"], f"{type(error).__name__}: {error}")

    def test_an_exception_in_a_read_is_a_failure_with_its_words(self) -> None:
        @gated(self.client, tool="shop.getOrder")
        def get_order(order_id: str) -> None:
            raise RuntimeError(f"no {order_id}")

        with self.assertRaisesRegex(RuntimeError, "no ORD-1"):
            get_order("ORD-1")
        action = server.action(self.inbox.proposed()["id"], until="settled")
        self.assertEqual((action["state"], action["error"]["message"]), ("failed", "RuntimeError: no ORD-1"))

    def test_words_that_no_server_takes_do_not_lose_the_outcome(self) -> None:
        for error in (ValueError("\ud800\0" * 4_000), ValueError(" "), ValueError("\x00")):
            raised, action = self.outcome_of(self.failing(error), "ORD-1", 1)
            self.assertIs(raised, error)
            self.assertEqual(action["state"], "outcome_unknown")
            self.assertTrue(action["error"]["message"].startswith("ValueError"), action["error"])

    def test_a_result_that_cannot_be_recorded_is_returned_and_the_outcome_is_recorded(self) -> None:
        for result in (object(), float("nan"), "x" * 3_000_000, {1: "a", "1": "b"}, {"\ud800": 1, "\ud801": 2}):
            with self.subTest(type(result).__name__):
                self.assertIs(self.returning(result)("ORD-1"), result)
                self.assertEqual(server.action(self.inbox.proposed()["id"], until="settled")["state"], "succeeded")

    def test_a_long_number_or_half_a_character_in_a_result_is_recorded_as_text_and_the_same_call_gets_the_rest(self) -> None:
        result = {"id": 2**60 + 1, "sum": 1e20, "name\ud800": ["a\ud83d", -(2**53), 2**53 - 1, True], "order": "ORD-long"}
        calls: list[str] = []

        def get_order(order_id: str) -> object:
            calls.append(order_id)
            return result

        keyed = loosely_gated(self.client, tool="shop.getOrder", key=lambda order_id: order_id)(get_order)
        recorded = {
            **{"id": "1152921504606846977", "sum": "1e+20", "order": "ORD-long"},
            "name\ufffd": ["a\ufffd", "-9007199254740992", 2**53 - 1, True],
        }
        self.assertIs(keyed("ORD-long"), result)
        self.assertEqual(keyed("ORD-long"), recorded)
        self.assertEqual(server.action(self.inbox.proposed()["id"])["result"], recorded)
        self.assertEqual(calls, ["ORD-long"])

    def test_an_argument_that_no_server_takes_is_a_text_that_names_it(self) -> None:
        for order_id, cents, words in (
            ("ORD-1", 2**60, "cents has a number beyond ±9007199254740991"),
            ("a\ud800", 1, "order_id has half of a character"),
        ):
            text = self.refund(on_refusal="text")(order_id, cents)
            self.assertEqual(text, f"This was not done: {words}, which cannot be passed on.")
            with self.assertRaises(ApiError) as raised:
                self.refund()(order_id, cents)
            self.assertEqual(raised.exception.code, "bad_request")
        self.assertEqual(self.effects.all, [])

    def test_to_json_makes_the_recorded_result_and_the_caller_gets_the_value_itself(self) -> None:
        @gated(self.client, tool="shop.getOrder", to_json=lambda orders: sorted(orders))
        def get_order(order_id: str) -> set[str]:
            return {order_id}

        self.assertEqual(get_order("ORD-1"), {"ORD-1"})
        self.assertEqual(server.action(self.inbox.proposed()["id"], until="settled")["result"], ["ORD-1"])

    def test_the_same_key_twice_at_once_runs_once_and_both_get_the_result(self) -> None:
        refund = self.refund(key=key_of_order)
        calls = [InThread(lambda: refund("ORD-twice", 500)) for _ in range(6)]
        server.approve(self.inbox.proposed()["id"])
        self.assertEqual([call.result() for call in calls], [{"refunded": 500}] * 6)
        self.assertEqual(self.effects.all, ["ORD-twice 500"])

    def test_a_key_that_ran_before_gets_the_recorded_outcome_and_runs_nothing(self) -> None:
        calling = InThread(lambda: self.refund().with_key("call Zoë 1")("ORD-1", 500))
        server.approve(self.inbox.proposed()["id"])
        calling.result()
        self.assertEqual(self.refund().with_key("call Zoë 1")("ORD-1", 500), {"refunded": 500})
        self.assertEqual(self.effects.all, ["ORD-1 500"])

        calling = InThread(lambda: self.failing(ValueError("x")).with_key("call-2")("ORD-1", 500))
        server.approve(self.inbox.proposed()["id"])
        self.assertRaises(ValueError, calling.result)
        with self.assertRaisesRegex(OutcomeUnknown, "Do not repeat it"):
            self.refund().with_key("call-2")("ORD-1", 500)
        self.assertEqual(self.effects.all, ["ORD-1 500"])

    def test_a_call_withdrawn_elsewhere_does_not_run(self) -> None:
        calling = InThread(lambda: self.refund()("ORD-1", 500))
        self.client.withdraw(self.inbox.proposed()["id"], "The order was cancelled.")
        with self.assertRaisesRegex(NotApproved, "The order was cancelled"):
            calling.result()
        self.assertEqual(self.effects.all, [])

    def test_a_tool_that_the_server_carries_out_or_sees_otherwise_is_refused_and_withdrawn(self) -> None:
        for more, words in (
            ({"tool": "shop.byServer"}, "executor: client"),
            ({"effect": "read"}, "is a write on the server"),
        ):
            with self.assertRaisesRegex(ToolMismatch, words):
                self.refund(**more)("ORD-1", 500)
            self.assertEqual(server.action(self.inbox.proposed()["id"])["state"], "cancelled")
        self.assertEqual(self.effects.all, [])

    def test_a_call_that_somebody_claimed_and_never_reported_is_of_unknown_outcome_and_never_runs(self) -> None:
        call: dict[str, Json] = {"order_id": "ORD-1", "cents": 1}
        action = self.client.propose("shop.refundFast", call, idempotency_key="fast")
        server.approve(action.id)
        self.client.claim(action.id)
        with self.assertRaises(OutcomeUnknown):
            self.refund(tool="shop.refundFast", key=fast_key)(**call)
        self.assertEqual(self.effects.all, [])

    def test_a_refused_call_inside_a_gated_function_is_that_function_s_exception(self) -> None:
        inner = self.refund()

        @gated(self.client, tool="shop.getOrder", on_refusal="text")
        def get_order(order_id: str) -> object:
            return inner(order_id, 500)

        calling = InThread(lambda: get_order("ORD-1"))
        outer = self.inbox.proposed()
        server.decline(self.inbox.proposed()["id"], "No.")
        with self.assertRaisesRegex(NotApproved, "No."):
            calling.result()
        self.assertEqual(server.action(outer["id"], until="settled")["state"], "failed")

    def test_a_key_that_is_revoked_while_the_call_waits_ends_the_wait(self) -> None:
        made = server.admin("POST", "/api/keys", {"name": "short", "kind": "agent", "roles": ["agent"]})
        client = Client(server.url, made["key"])
        action = client.propose("shop.refund", {"order_id": "ORD-1", "cents": 1})
        calling = InThread(lambda: client.wait(action.id))
        server.admin("DELETE", f"/api/keys/{made['id']}")
        with self.assertRaises(ApiError) as raised:
            calling.result()
        self.assertIn(raised.exception.code, ("unauthenticated", "not_found"))

    def test_one_key_with_other_arguments_is_refused(self) -> None:
        self.client.propose("shop.refund", {"order_id": "ORD-1", "cents": 1}, idempotency_key="mixed")
        with self.assertRaises(ApiError) as raised:
            self.refund(key=mixed_key)("ORD-2", 1)
        self.assertEqual(raised.exception.code, "idempotency_mismatch")
        self.assertEqual(self.effects.all, [])
