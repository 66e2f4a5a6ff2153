"""A real server of this checkout, in a process of its own."""

from __future__ import annotations

import http.client
import json
import logging
import os
import queue
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
ADMIN_KEY = "a-bootstrap-key-for-tests-only"
#: Ends what hangs; nothing that works takes as long.
PATIENCE = 240.0

_REFUND: dict[str, object] = {
    "method": "POST",
    "path": "/refunds",
    "executor": "client",
    "describe": "Refund {cents} cents of {order_id}",
    "input": {
        "type": "object",
        "required": ["order_id", "cents"],
        "additionalProperties": False,
        "properties": {
            "order_id": {"type": "string"},
            "cents": {"type": "integer", "maximum": 100_000},
            "note": {"type": "string"},
        },
    },
}
_TOOLS: dict[str, object] = {
    "getOrder": {"method": "GET", "path": "/orders/{order_id}", "executor": "client"},
    "refund": _REFUND,
    # A hold that ends soon, and one that ends soon but leaves a slow machine the time to begin.
    "refundFast": {**_REFUND, "timeoutMs": 1_000},
    "refundBrief": {**_REFUND, "timeoutMs": 5_000},
    "forbidden": _REFUND,
    "byServer": {**_REFUND, "executor": "server"},
}
_RULES: list[dict[str, object]] = [
    {"name": "reads run", "match": {"effect": "read"}, "verdict": "allow"},
    {"name": "never", "match": {"tool": "shop.forbidden"}, "verdict": "deny"},
]
#: JSON is YAML.
CONFIG: dict[str, object] = {
    "tools": {"shop": {"routes": {"baseUrl": "http://127.0.0.1:9", "tools": _TOOLS}}},
    "policy": {"rules": _RULES},
}


def _node() -> str:
    own = ROOT / "node_modules" / ".bin" / "node"
    return os.environ.get("COUNTERSIGN_TEST_NODE") or (str(own) if own.exists() else "node")


def free_port() -> int:
    """A port below those that the system gives to connections: such a one could be taken while the server is down."""
    while True:
        port = random.SystemRandom().randrange(10_000, 15_000)
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


class RealServer:
    """`countersign serve` on a port and a data folder of its own. Use as a context manager."""

    def __init__(self) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._folder = Path(tempfile.mkdtemp(prefix="countersign-python-"))
        (self._folder / "countersign.yaml").write_text(json.dumps(CONFIG))
        self._process: subprocess.Popen[str] | None = None
        self.agent_key = ""

    def __enter__(self) -> RealServer:
        try:
            self.start()
            made = self.admin("POST", "/api/keys", {"name": "python", "kind": "agent", "roles": ["agent"]})
            self.agent_key = str(made["key"])
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        shutil.rmtree(self._folder, ignore_errors=True)

    def start(self) -> None:
        """Starts it and waits until it listens."""
        place = ["--config", str(self._folder / "countersign.yaml"), "--data", str(self._folder / "data")]
        flags = ["--port", str(self.port), "--log-level", "error", "--no-open"]
        self._process = subprocess.Popen(
            [
                *[_node(), "--conditions=countersign-source", "--disable-warning=ExperimentalWarning"],
                *[str(ROOT / "packages/server/src/main.js"), "serve", *place, *flags],
            ],
            env={**os.environ, "COUNTERSIGN_BOOTSTRAP_KEY": ADMIN_KEY},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert self._process.stdout is not None
        said = ""
        for line in self._process.stdout:
            said += line
            if "ready at" in line:
                threading.Thread(target=self._process.stdout.read, daemon=True).start()
                return
        raise AssertionError(f"the server ended before it listened: {said}")

    def kill(self) -> None:
        """Ends it with SIGKILL, and waits until it is gone."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
            if self._process.stdout is not None:
                self._process.stdout.close()
            self._process = None

    def admin(self, method: str, path: str, body: object = None) -> Any:
        """The answer to a person with the bootstrap key."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            headers = {"authorization": f"Bearer {ADMIN_KEY}", "content-type": "application/json"}
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            text = answer.read()
        finally:
            connection.close()
        if answer.status >= 300:
            raise AssertionError(f"{method} {path}: {answer.status} {text!r}")
        return json.loads(text) if text else None

    def action(self, action_id: str, *, until: str | None = None) -> Any:
        """An action as it is, or once it is decided or settled."""
        deadline = time.monotonic() + PATIENCE
        while True:
            action = self.admin("GET", f"/api/actions/{action_id}{'' if until is None else f'?wait=20&until={until}'}")
            if until is None or action["state"] not in ("proposed", "approved", "executing"):
                return action
            assert time.monotonic() < deadline, f"{action_id} is still {action['state']}"

    def approve(self, action_id: str, **more: object) -> Any:
        return self._decide(action_id, {"verdict": "approve", **more})

    def decline(self, action_id: str, reason: str) -> Any:
        return self._decide(action_id, {"verdict": "decline", "reason": reason})

    def _decide(self, action_id: str, verdict: dict[str, object]) -> Any:
        action = self.action(action_id)
        seen = {"revision": action["revision"], "digest": action["digest"]}
        return self.admin("POST", f"/api/actions/{action_id}/decision", {**seen, **verdict})


class Inbox:
    """The events of a server, as the console hears them. Use as a context manager."""

    def __init__(self, server: RealServer) -> None:
        self._events: queue.Queue[tuple[str, Any]] = queue.Queue()
        self._connection = http.client.HTTPConnection("127.0.0.1", server.port)
        self._connection.request("GET", "/api/events", headers={"authorization": f"Bearer {ADMIN_KEY}"})
        self._answer = self._connection.getresponse()
        self._connected = self._connection.sock
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def __enter__(self) -> Inbox:
        return self

    def __exit__(self, *_: object) -> None:
        # A close alone does not end the read of another thread.
        for end in (self._shut, self._thread.join, self._answer.close, self._connection.close):
            end()

    def _shut(self) -> None:
        try:
            self._answer.fp.raw._sock.shutdown(socket.SHUT_RDWR)  # type: ignore[attr-defined] # pyright: ignore
        except (OSError, AttributeError):
            return

    def _read(self) -> None:
        kind = ""
        try:
            for line in self._answer:
                text = line.decode().rstrip("\n")
                if text.startswith("event: "):
                    kind = text[7:]
                elif text.startswith("data: "):
                    self._events.put((kind, json.loads(text[6:])))
        except (OSError, http.client.HTTPException, ValueError):
            return

    def next(self, kind: str, fits: Callable[[Any], bool] = lambda _: True) -> Any:
        """The next event of a kind that fits; the ones before are dropped."""
        deadline = time.monotonic() + PATIENCE
        while True:
            heard, data = self._events.get(timeout=max(0.001, deadline - time.monotonic()))
            if heard == kind and fits(data):
                return data

    def proposed(self) -> Any:
        """The next action that is proposed."""
        return self.next("action_proposed")["proposal"]


def start_for_module() -> RealServer:
    """A server for the tests of a module, which stops when they end. Warnings are not shown meanwhile."""
    logging.disable(logging.WARNING)
    unittest.addModuleCleanup(logging.disable, logging.NOTSET)
    return unittest.enterModuleContext(RealServer())
