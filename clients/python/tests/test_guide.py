"""The program of the guide runs as it is written there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
import unittest
from pathlib import Path

from .in_thread import InThread
from .real_server import PATIENCE, ROOT, Inbox, RealServer

FOLDER = Path(__file__).resolve().parents[1]
GUIDE = ROOT / "docs" / "guides" / "python.md"


def program() -> str:
    """The block that the guide says to save as refund.py."""
    found = re.search(r"^ *```python file=refund.py\n(.*?)^ *```$", GUIDE.read_text(), re.DOTALL | re.MULTILINE)
    assert found is not None
    return textwrap.dedent(found[1])


class Guide(unittest.TestCase):
    def test_the_program_of_the_guide_refunds_what_was_approved_and_says_why_it_did_not(self) -> None:
        with RealServer() as server, Inbox(server) as inbox:
            environment = {
                **os.environ,
                "PYTHONPATH": str(FOLDER / "src"),
                "COUNTERSIGN_URL": server.url,
                "COUNTERSIGN_KEY": server.agent_key,
            }

            def run() -> str:
                command = [sys.executable, "-W", "error", "-c", program()]
                ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE)
                return ran.stdout + ran.stderr

            approved = InThread(run)
            server.approve(inbox.proposed()["id"])
            self.assertEqual(approved.result(), "{'order': 'ORD-001', 'refunded': 500}\n")
            declined = InThread(run)
            server.decline(inbox.proposed()["id"], "It was refunded yesterday.")
            self.assertEqual(declined.result(), "Nothing was refunded: It was refunded yesterday.\n")
