"""The guide's program for LangGraph with the real package. Run by hand, where it is installed: it is no part of the gate.

It passed with langgraph 1.2.12 and langchain-core 1.6.5 (and with a stand-in for langchain-protocol, a package of types alone).

`PYTHONPATH=src python3 -m unittest tests.frameworks`
"""

from __future__ import annotations

import asyncio
import os
import re
import unittest
import unittest.mock
from importlib import import_module
from typing import Any

from .in_thread import InThread
from .real_server import ROOT, Inbox, RealServer


def block_under(heading: str) -> str:
    """The Python block that the guide has under a heading."""
    guide = (ROOT / "docs" / "guides" / "python-frameworks.md").read_text()
    found = re.search(rf"^## {heading}\n\n```python\n(.*?)^```$", guide, re.DOTALL | re.MULTILINE)
    assert found is not None
    return found[1]


class LangGraph(unittest.TestCase):
    def test_a_tool_node_asks_runs_the_approved_arguments_once_and_tells_the_model_of_a_refusal(self) -> None:
        graphs: Any = import_module("langgraph.graph")
        messages: Any = import_module("langchain_core.messages")
        names: dict[str, Any] = {}
        exec(compile(block_under("LangGraph"), "guide", "exec", dont_inherit=True), names)
        builder = graphs.StateGraph(graphs.MessagesState)
        builder.add_node("tools", names["tools"])
        builder.add_edge(graphs.START, "tools")
        builder.add_edge("tools", graphs.END)
        graph = builder.compile()

        def call(call_id: str) -> str:
            calls = [{"name": "refund", "id": call_id, "args": {"order_id": "ORD-1", "cents": 500}}]
            given = {"messages": [messages.AIMessage("", tool_calls=calls)]}
            answer = asyncio.run(graph.ainvoke(given, {"configurable": {"thread_id": "thread-1"}}))
            return str(answer["messages"][-1].content)

        with RealServer() as server, Inbox(server) as inbox:
            settings = {"COUNTERSIGN_URL": server.url, "COUNTERSIGN_KEY": server.agent_key}
            with unittest.mock.patch.dict(os.environ, settings):
                calling = InThread(lambda: call("call-1"))
                action = inbox.proposed()
                self.assertEqual(action["arguments"], {"order_id": "ORD-1", "cents": 500})
                server.approve(action["id"], arguments={"order_id": "ORD-1", "cents": 400})
                self.assertEqual(calling.result(), "Refunded 400 cents of ORD-1.")
                self.assertEqual(call("call-1"), "Refunded 400 cents of ORD-1.")
                calling = InThread(lambda: call("call-2"))
                server.decline(inbox.proposed()["id"], "No.")
                self.assertEqual(calling.result(), "This was not done, because it was not approved: No.")
