"""What becomes of a call when a process goes: the server, the program that asked, or its user's patience."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any

from countersign import Client, gated

from .effects import Effects
from .in_thread import InThread
from .real_server import PATIENCE, Inbox, RealServer, start_for_module

FOLDER = Path(__file__).resolve().parents[1]
server: RealServer


def setUpModule() -> None:
    global server
    server = start_for_module()


class Crashes(unittest.TestCase):
    def setUp(self) -> None:
        self.effects = self.enterContext(Effects())

    def start(self, key: str, *more: str) -> subprocess.Popen[str]:
        """Starts a process that makes one gated call with this key."""
        process = subprocess.Popen(
            [sys.executable, "-W", "error", "-m", "tests.calling_process", key, str(self.effects.path), *more],
            cwd=FOLDER,
            env={
                **os.environ,
                "PYTHONPATH": str(FOLDER / "src"),
                "COUNTERSIGN_URL": server.url,
                "COUNTERSIGN_KEY": server.agent_key,
            },
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(self.end, process)
        return process

    def begun(self, inbox: Inbox) -> tuple[tuple[str, str], subprocess.Popen[str], Any]:
        """A call with a hold that ends soon, its process, whose function runs, and its action."""
        for nth in range(20):
            call = (f"killed-while-running {nth}", "shop.refundBrief")
            process = self.start(*call)
            action = inbox.proposed()
            server.approve(action["id"])
            assert process.stdout is not None
            if process.stdout.readline() == "begun\n":
                return call, process, action
            # The hold ended before a busy machine came to the function: nothing ran.
            self.end(process)
            self.assertEqual(self.effects.all, [])
        self.fail("no function ran")

    @staticmethod
    def end(process: subprocess.Popen[str]) -> tuple[str, str]:
        if process.poll() is None:
            process.kill()
        return process.communicate(timeout=PATIENCE)

    def test_a_call_waits_through_a_restart_of_the_server_and_runs_once(self) -> None:
        client = Client(server.url, server.agent_key)

        @gated(client, tool="shop.refund")
        def refund(order_id: str, cents: int) -> int:
            self.effects.add(order_id)
            return cents

        with Inbox(server) as inbox:
            calling = InThread(lambda: refund("ORD-1", 500))
            action = inbox.proposed()
        server.kill()
        server.start()
        self.assertEqual(server.action(action["id"])["state"], "proposed")
        server.approve(action["id"])
        self.assertEqual(calling.result(), 500)
        self.assertEqual(server.action(action["id"], until="settled")["result"], 500)
        self.assertEqual(self.effects.all, ["ORD-1"])

    def test_a_process_killed_while_it_waits_goes_on_with_the_same_key_and_runs_once(self) -> None:
        with Inbox(server) as inbox:
            first = self.start("killed-while-waiting")
            action = inbox.proposed()
            self.end(first)
            server.approve(action["id"])
            self.assertEqual(self.effects.all, [])
            for _ in range(2):
                said, complaint = self.start("killed-while-waiting").communicate(timeout=PATIENCE)
                self.assertEqual((said, complaint), ("{'refunded': 500}\n", ""))
        self.assertEqual(self.effects.all, ["ORD-1 500"])
        self.assertEqual(server.action(action["id"])["state"], "succeeded")

    def test_a_process_killed_while_the_function_runs_leaves_an_unknown_outcome_that_no_other_repeats(self) -> None:
        with Inbox(server) as inbox:
            call, first, action = self.begun(inbox)
            self.end(first)
            _, complaint = self.start(*call).communicate(timeout=PATIENCE)
        self.assertIn("OutcomeUnknown: It is not known whether shop.refundBrief was carried out", complaint)
        self.assertEqual(self.effects.all, ["ORD-1 500"])
        self.assertEqual(server.action(action["id"])["state"], "outcome_unknown")

    def test_an_interrupt_while_it_waits_withdraws_the_call(self) -> None:
        for more in ([], ["async"]):
            with self.subTest(more), Inbox(server) as inbox:
                process = self.start(f"interrupted {more}", *more)
                action = inbox.proposed()
                process.send_signal(signal.SIGINT)
                _, complaint = process.communicate(timeout=PATIENCE)
                self.assertIn("KeyboardInterrupt", complaint)
                self.assertNotIn("could not be withdrawn", complaint)
                self.assertNotIn(server.agent_key, complaint)
                self.assertEqual(server.action(action["id"])["error"]["kind"], "withdrawn")
        self.assertEqual(self.effects.all, [])

    def test_an_interrupt_while_the_function_runs_is_reported(self) -> None:
        with Inbox(server) as inbox:
            process = self.start("interrupted-while-running", "shop.refund")
            action = inbox.proposed()
            server.approve(action["id"])
            assert process.stdout is not None
            self.assertEqual(process.stdout.readline(), "begun\n")
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=PATIENCE)
        settled = server.action(action["id"])
        self.assertEqual(settled["state"], "outcome_unknown")
        self.assertEqual(settled["error"]["message"], "It was stopped while it ran (KeyboardInterrupt).")
