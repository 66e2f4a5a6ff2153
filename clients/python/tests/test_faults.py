"""Answers that are lost, late or lies: nothing runs twice, nothing is lost, and the key goes nowhere else."""

from __future__ import annotations

import json
import logging
import socket
import ssl
import time
import traceback
import unittest
import unittest.mock
from collections import Counter
from collections.abc import Callable

from countersign import ApiError, CallFailed, Client, calls, flow, gated
from countersign.exchange import Answer, Exchange, Request, Secret, read_address
from countersign.io import BlockingIo

from .effects import Effects
from .fault_proxy import Dripping, FaultProxy, Seen, SelfSigned, answer, half
from .in_thread import InThread
from .real_server import Inbox, RealServer, start_for_module

server: RealServer
KEY = "cs_a-key-that-nobody-else-may-see"


def setUpModule() -> None:
    global server
    server = start_for_module()


def first(step: str, spoiled: Callable[[bytes], bytes | None]) -> Callable[[Seen, Callable[[], bytes]], bytes | None]:
    """Spoils the answer to the first request of a step, after the server has done what was asked."""
    counts: Counter[str] = Counter()

    def spoil(seen: Seen, forward: Callable[[], bytes]) -> bytes | None:
        counts[seen.step] += 1
        whole = forward()
        return spoiled(whole) if seen.step == step and counts[step] == 1 else whole

    return spoil


class Faults(unittest.TestCase):
    def setUp(self) -> None:
        self.effects = self.enterContext(Effects())

    def proxy(self, spoil: Callable[[Seen, Callable[[], bytes]], bytes | None]) -> FaultProxy:
        return self.enterContext(FaultProxy(server.port, spoil))

    def lying(self, given: bytes | None) -> FaultProxy:
        """A server that gives the same answer to everything."""
        return self.proxy(lambda seen, forward: given)

    def refuse(self, given: bytes | None, *, patience: float = 0) -> tuple[ApiError, FaultProxy]:
        proxy = self.lying(given)
        with self.assertRaises(ApiError) as raised:
            Client(proxy.url, KEY, patience=patience).propose("shop.getOrder", {"order_id": "ORD-1"})
        return raised.exception, proxy

    def test_a_lost_answer_at_any_step_is_fetched_again_and_the_call_runs_once(self) -> None:
        lost: dict[str, Callable[[bytes], bytes | None]] = {
            "nothing came": lambda whole: None,
            "half of it came": half,
            "no length and half of it came": lambda whole: half(whole).replace(b"content-length", b"x-length"),
            "it is not JSON": lambda whole: answer(200, "<html>Sign in to the network</html>"),
            "it is not an action": lambda whole: answer(200, '{"id": 7}'),
            "502": lambda whole: answer(502, "<html>", "retry-after: 0"),
            "503": lambda whole: answer(503, '{"code": "not_ready", "detail": "Starting."}', "retry-after: 0"),
            "429": lambda whole: answer(429, '{"code": "rate_limited", "detail": "Slow down."}', "retry-after: 0"),
        }
        for name, spoiled in lost.items():
            for step in ("propose", "wait", "claim", "result"):
                with self.subTest(f"{name} at {step}"):
                    self.run_once_through(self.proxy(first(step, spoiled)), f"{name} at {step}", step)

    def test_the_404_of_a_proxy_while_the_server_behind_it_is_replaced_ends_neither_a_wait_nor_a_claim_nor_a_report(self) -> None:
        for step in ("wait", "claim", "result"):
            with self.subTest(step):
                not_found = first(step, lambda whole: answer(404, "404 page not found"))
                self.run_once_through(self.proxy(not_found), f"404 at {step}", step)

    def test_the_404_of_a_proxy_that_never_reached_the_server_is_said_at_once(self) -> None:
        proxy = self.lying(answer(404, "404 page not found"))
        with self.assertRaises(ApiError) as raised:
            Client(proxy.url, KEY).get("act_1")
        self.assertEqual(raised.exception.code, "not_found")
        self.assertEqual(len(proxy.seen), 1)

    def run_once_through(self, proxy: FaultProxy, order_id: str, step: str) -> None:
        @gated(Client(proxy.url, server.agent_key), tool="shop.refund")
        def refund(order_id: str, cents: int) -> int:
            self.effects.add(order_id)
            return cents

        with Inbox(server) as inbox:
            calling = InThread(lambda: refund(order_id, 5))
            action = inbox.proposed()
            server.approve(action["id"])
            self.assertEqual(calling.result(), 5)
        self.assertEqual(server.action(action["id"], until="settled")["state"], "succeeded")
        self.assertEqual(self.effects.all.count(order_id), 1)
        self.assertEqual(len(server.admin("GET", "/api/actions?state=proposed")["items"]), 0)
        # A change is repeated with its key, or not at all.
        keys = {seen.headers.get("idempotency-key") for seen in proxy.steps(step)}
        self.assertEqual(len(keys), 1)
        self.assertEqual(keys == {None}, step == "wait")
        self.assertGreater(len(proxy.steps(step)), 1)

    def test_a_server_that_fails_while_the_call_waits_or_reports_is_asked_until_it_works(self) -> None:
        for step in ("wait", "claim", "result"):
            with self.subTest(step):
                proxy = self.proxy(first(step, lambda whole: answer(500, "oh")))
                self.run_once_through(proxy, f"500 at {step}", step)

    def test_a_wait_with_a_time_limit_ends_soon_after_it_where_the_server_takes_the_connection_and_says_nothing(self) -> None:
        silent = self.enterContext(socket.create_server(("127.0.0.1", 0)))
        send = BlockingIo.send
        limits: list[float] = []

        async def noted(io: BlockingIo, exchange: Exchange) -> Answer:
            limits.append(exchange.timeout)
            return await send(io, exchange)

        # Not the time that it took: the machine may stand still meanwhile.
        with unittest.mock.patch.object(BlockingIo, "send", noted), self.assertRaises(TimeoutError):
            Client(f"http://127.0.0.1:{silent.getsockname()[1]}", KEY).wait("act_1", timeout=1)
        self.assertLessEqual(max(limits), 3)

    def test_a_proposal_that_fails_is_not_tried_again(self) -> None:
        error, proxy = self.refuse(answer(500, '{"code": "internal", "detail": "Something went wrong here"}'), patience=60)
        self.assertEqual((error.code, error.status, len(proxy.seen)), ("internal", 500, 1))

    def test_a_full_inbox_is_said_at_once(self) -> None:
        error, proxy = self.refuse(answer(429, '{"code": "too_many_waiting", "detail": "20 wait."}'), patience=60)
        self.assertEqual((error.code, error.detail, len(proxy.seen)), ("too_many_waiting", "20 wait.", 1))

    def test_half_a_refusal_is_no_refusal(self) -> None:
        problem = json.dumps({"code": "illegal_transition", "detail": "It is executing."})
        error, _ = self.refuse(half(answer(409, problem)))
        self.assertEqual(error.code, "offline")

    def test_retry_after_is_waited_for_and_no_longer_than_patience(self) -> None:
        proxy = self.proxy(first("propose", lambda whole: answer(503, "{}", "retry-after: 1")))
        started = time.monotonic()
        Client(proxy.url, server.agent_key).propose("shop.getOrder", {"order_id": "ORD-1"})
        self.assertGreaterEqual(time.monotonic() - started, 1)
        for header in ("retry-after: 9999999999", "retry-after: Wed, 01 Jan 2200 00:00:00 GMT"):
            error, proxy = self.refuse(answer(503, "{}", header), patience=30)
            self.assertEqual((error.code, len(proxy.seen)), ("bad_request" if error.status < 500 else "internal", 1))

    def test_a_lost_connection_and_the_named_answers_are_tried_again_for_30_seconds(self) -> None:
        class Paused(Exception):
            pass

        self.enterContext(unittest.mock.patch.object(BlockingIo, "pause", side_effect=Paused))
        # What was waited for already counts, so the clock stands still.
        self.enterContext(unittest.mock.patch.object(calls, "time", unittest.mock.Mock(monotonic=lambda: 70.0)))
        for status in (408, 429, 502, 503, 504):
            for seconds, ending in ((30, Paused), (31, ApiError)):
                proxy = self.lying(answer(status, "{}", f"retry-after: {seconds}"))
                with self.subTest(status=status, seconds=seconds), self.assertRaises(ending):
                    Client(proxy.url, KEY).propose("shop.getOrder", {"order_id": "ORD-1"})
        with self.assertRaises(Paused):
            Client(self.lying(None).url, KEY).get("act_1")

    def test_no_redirect_is_followed_and_the_key_reaches_nobody_else(self) -> None:
        thief = self.enterContext(FaultProxy(server.port, lambda seen, forward: answer(200)))
        for status in (301, 302, 303, 307, 308):
            for location in (f"{thief.url}/api/actions", f"//{thief.url[7:]}/api/actions", "/elsewhere", ""):
                error, proxy = self.refuse(answer(status, "", f"location: {location}"), patience=60)
                self.assertEqual((error.code, len(proxy.seen)), ("redirected", 1))
        self.assertEqual(thief.seen, [])

    def test_no_proxy_of_the_environment_gets_the_key(self) -> None:
        thief = self.enterContext(FaultProxy(server.port, lambda seen, forward: answer(200)))
        variables = {name: thief.url for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")}
        with unittest.mock.patch.dict("os.environ", variables):
            Client(server.url, server.agent_key).propose("shop.getOrder", {"order_id": "ORD-1"})
        self.assertEqual(thief.seen, [])

    def test_the_key_is_in_no_error_log_or_repr_even_if_the_server_sends_it_back(self) -> None:
        problem = {"code": f"Bearer {KEY}", "detail": KEY, "issues": [{"path": KEY, "message": KEY}]}
        for given in (
            answer(422, json.dumps(problem)),
            answer(302, "", f"location: https://{KEY}@{KEY}/"),
            answer(200, json.dumps(KEY)),
            f"HTTP/1.1 {KEY} OK\r\n\r\n".encode(),
            f"{KEY}\r\n\r\n".encode(),
            None,
        ):
            logging.disable(logging.NOTSET)
            with self.assertLogs("countersign", "DEBUG") as logs:
                logging.getLogger("countersign").debug("begins")
                error, proxy = self.refuse(given, patience=0.5)
            logging.disable(logging.WARNING)
            shown = "".join(traceback.format_exception(error)) + repr(vars(error)) + "".join(logs.output)
            self.assertNotIn(KEY, shown)
            self.assertEqual(proxy.seen[0].headers["authorization"], f"Bearer {KEY}")
        client = Client(server.url, KEY)
        self.assertNotIn(KEY, repr(client) + repr(vars(client)) + repr(client.connection))

    def test_an_unusable_key_or_address_is_refused_without_showing_the_key(self) -> None:
        for key in (f"{KEY}\r\nx: y", f"{KEY} ", f"{KEY}é", KEY * 20):
            with self.assertRaises(ValueError) as raised:
                Client(server.url, key)
            self.assertNotIn(KEY, str(raised.exception))
        for url in ("", "127.0.0.1:4319", "ftp://x", "http://", f"http://{KEY}@x", f"http://a:{KEY}@x", "http://x:y", "http://x?a", "http://x/a b", "http://x/\r\nh: y"):
            if url != "":
                with self.assertRaises(ValueError) as raised:
                    Client(url, KEY)
                self.assertNotIn(KEY, str(raised.exception))
        with unittest.mock.patch.dict("os.environ", clear=True), self.assertRaisesRegex(ValueError, "COUNTERSIGN_KEY"):
            Client()

    def test_a_server_that_answers_about_another_action_is_not_believed(self) -> None:
        other = Client(server.url, server.agent_key).propose("shop.getOrder", {"order_id": "ORD-1"})
        proxy = self.lying(answer(200, json.dumps(dict(other.raw))))
        client = Client(proxy.url, KEY, patience=0)
        for call in (client.get, client.wait, client.withdraw):
            with self.assertRaisesRegex(ApiError, "another action"):
                call("act_else")

    def test_a_server_that_does_not_hold_a_long_poll_is_not_asked_without_a_pause(self) -> None:
        waiting = Client(server.url, server.agent_key).propose("shop.refund", {"order_id": "ORD-1", "cents": 1})
        proxy = self.lying(answer(200, json.dumps(dict(waiting.raw))))
        with self.assertRaises(TimeoutError):
            Client(proxy.url, KEY).wait(waiting.id, timeout=3)
        self.assertLessEqual(len(proxy.seen), 6)
        Client(server.url, server.agent_key).withdraw(waiting.id)

    def runs_nothing(self, tool: str, spoil: Callable[[Seen, Callable[[], bytes]], bytes]) -> None:
        """Approves a call whose claim is answered when no time is left, and expects that it is told as not carried out."""

        @gated(Client(self.proxy(spoil).url, server.agent_key), tool=tool)
        def refund(order_id: str, cents: int) -> None:
            self.effects.add(order_id)

        with Inbox(server) as inbox:
            calling = InThread(lambda: refund("ORD-1", 5))
            action = inbox.proposed()
            server.approve(action["id"])
            with self.assertRaisesRegex(CallFailed, "no time left"):
                calling.result()
        self.assertEqual(self.effects.all, [])
        self.assertEqual(server.action(action["id"])["state"], "failed")

    def test_a_hold_that_ended_before_its_answer_came_runs_nothing(self) -> None:
        def late(seen: Seen, forward: Callable[[], bytes]) -> bytes:
            whole = forward()
            if seen.step == "claim":
                # The server says when the hold has ended.
                server.action(json.loads(whole.partition(b"\r\n\r\n")[2])["action"]["id"], until="settled")
            return whole

        # What the server had to call unknown is known then: it was not carried out.
        self.runs_nothing("shop.refundFast", late)

    def test_a_machine_that_slept_through_the_hold_between_the_claim_and_its_answer_runs_nothing(self) -> None:
        slept = 0.0

        def sleep(seen: Seen, forward: Callable[[], bytes]) -> bytes:
            nonlocal slept
            # Its monotonic clock stands still meanwhile; only the time of day tells.
            if seen.step == "claim":
                slept = 7_200.0
            return forward()

        clock = unittest.mock.Mock(wraps=time)
        clock.time.side_effect = lambda: time.time() + slept
        with unittest.mock.patch.object(flow, "time", clock):
            self.runs_nothing("shop.refund", sleep)

    def test_an_answer_that_drips_in_is_given_up_after_the_time_for_all_of_it(self) -> None:
        with Dripping() as dripping:
            request = Request("GET", "/", timeout=0.5)
            with self.assertRaises(ApiError) as raised:
                Exchange(read_address(dripping.url), Secret(KEY), None, request).run_watched()
        self.assertEqual(raised.exception.code, "offline")
        self.assertIn("no whole answer within 0.5 s", raised.exception.detail)

    def test_a_certificate_that_nobody_vouches_for_is_refused_before_the_key_is_sent(self) -> None:
        with SelfSigned() as impostor:
            with self.assertRaises(ApiError) as raised:
                Client(impostor.url, KEY, patience=60).propose("shop.getOrder", {"order_id": "ORD-1"})
            self.assertEqual(raised.exception.code, "untrusted_certificate")
            self.assertEqual(impostor.received, b"")
            # The same server is fine for who trusts its certificate.
            trusting = ssl.create_default_context(cafile=impostor.certificate)
            with self.assertRaises(ApiError) as raised:
                Client(impostor.url, KEY, ssl_context=trusting, patience=0).get("act_1")
            self.assertEqual(raised.exception.code, "not_found")
            self.assertIn(KEY.encode(), impostor.received)
