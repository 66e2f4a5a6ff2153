"""What `gated(…, register=…)` promises, against a real server."""

from __future__ import annotations

import functools
import unittest
from typing import Any

from countersign import ApiError, Client, Json

from .effects import Effects
from .in_thread import InThread
from .loosely import loosely_gated
from .real_server import Inbox, RealServer, start_for_module

server: RealServer

INPUT: dict[str, Json] = {
    "type": "object",
    "required": ["order", "status"],
    "properties": {"order": {"type": "string"}, "status": {"type": "string"}},
}


def setUpModule() -> None:
    global server
    server = start_for_module()


class Register(unittest.TestCase):
    def setUp(self) -> None:
        self.client = Client(server.url, server.agent_key)
        self.effects = self.enterContext(Effects())
        self.inbox = self.enterContext(Inbox(server))

    def set_status(self, tool: str, register: dict[str, Any] | None, **more: Any) -> Any:
        def set_status(order: str, status: str) -> str:
            """Sets the status of an order."""
            self.effects.add(f"{order} {status}")
            return "done"

        return loosely_gated(self.client, tool=tool, register=register, **more)(set_status)

    def test_a_registered_tool_waits_for_a_person_and_runs_once(self) -> None:
        gated = self.set_status("setStatus", {"input": INPUT, "describe": "Set {order} to {status}"}, effect="read")
        for status in ("shipped", "lost"):
            running = InThread(functools.partial(gated, "ORD-1", status))
            action = self.inbox.proposed()
            self.assertEqual((action["tool"], action["effect"]), ("setStatus", "write"))
            self.assertIn(f"Set ORD-1 to {status}", action["description"])
            server.approve(action["id"])
            self.assertEqual(running.result(), "done")
        self.assertEqual(self.effects.all, ["ORD-1 shipped", "ORD-1 lost"])
        tools = {tool["name"]: tool for tool in server.admin("GET", "/api/tools")["items"]}
        self.assertEqual(tools["setStatus"]["description"], "Sets the status of an order.")

    def test_without_register_the_server_does_not_know_it(self) -> None:
        with self.assertRaises(ApiError) as raised:
            self.set_status("unknown", None)("ORD-1", "shipped")
        self.assertEqual(raised.exception.code, "not_found")

    def test_a_tool_of_the_configuration_stays_as_it_is(self) -> None:
        with self.assertRaises(ApiError) as raised:
            self.set_status("shop.refund", {"input": INPUT})("ORD-1", "shipped")
        # Its own schema, not the one that was sent.
        self.assertEqual(raised.exception.code, "invalid_arguments")
        self.assertIn("order_id is required", raised.exception.detail)

    def test_what_the_server_refuses_is_raised_and_proposes_nothing(self) -> None:
        gated = self.set_status("bad name", {"input": INPUT})
        for _ in range(2):
            with self.assertRaises(ApiError) as raised:
                gated("ORD-1", "shipped")
            self.assertEqual(raised.exception.code, "bad_request")
        with self.assertRaises(TypeError):
            self.set_status("setStatus", {})
        self.assertEqual(self.effects.all, [])
