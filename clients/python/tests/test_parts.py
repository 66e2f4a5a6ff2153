"""What needs no server, and the examples of the documentation, which do."""

from __future__ import annotations

import doctest
import os
import pickle
import re
import unittest
import unittest.mock
from collections.abc import AsyncIterator, Iterator
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Any

import countersign
from countersign import ApiError, AsyncClient, CallFailed, Client, Issue, NotApproved, OutcomeUnknown, gated
from countersign.actions import read_action
from countersign.calls import retry_seconds
from countersign.gate import refusal_text, usable_key
from countersign.parameters import Parameters

from .real_server import ROOT, RealServer

SOURCE = Path(countersign.__file__).parent
CLIENT = Client("http://127.0.0.1:9", "cs_x", patience=0)


def load_tests(loader: unittest.TestLoader, tests: unittest.TestSuite, pattern: str | None) -> unittest.TestSuite:
    """Adds the examples of the docstrings, which run against a real server."""
    servers: list[RealServer] = []
    environment = unittest.mock.patch.dict("os.environ")

    def begin(_: object) -> None:
        environment.start()
        server = RealServer().__enter__()
        servers.append(server)
        os.environ.update(COUNTERSIGN_URL=server.url, COUNTERSIGN_KEY=server.agent_key)

    def end(_: object) -> None:
        servers.pop().__exit__()
        environment.stop()

    for name in sorted(path.stem for path in SOURCE.glob("*.py")):
        module = import_module("countersign" if name == "__init__" else f"countersign.{name}")
        if re.search(r"^ *>>> ", Path(str(module.__file__)).read_text(), re.MULTILINE):
            tests.addTests(doctest.DocTestSuite(module, setUp=begin, tearDown=end))
    return tests


class Status(StrEnum):
    SHIPPED = "shipped"


class ArgumentsOfAFunction(unittest.TestCase):
    def proposed(self, parameters: Parameters, *args: Any, **kwargs: Any) -> object:
        return parameters.propose(parameters.bind(args, kwargs))

    def test_every_argument_has_its_name_and_defaults_are_shown_except_none(self) -> None:
        def function(a: int, /, b: float = 2.5, *, c: str | None = None, **more: object) -> None: ...

        parameters = Parameters(function, ())
        self.assertEqual(self.proposed(parameters, 1), {"a": 1, "b": 2.5})
        self.assertEqual(self.proposed(parameters, 1, c=None, d=(1, 2)), {"a": 1, "b": 2.5, "c": None, "d": [1, 2]})
        with self.assertRaisesRegex(TypeError, "missing a required argument: 'a'"):
            self.proposed(parameters)

    def test_what_stays_here_is_not_proposed_and_is_passed_on(self) -> None:
        class Desk:
            def refund(self, context: object, order_id: str) -> None: ...

        desk, context = Desk(), object()
        parameters = Parameters(Desk.refund, ["context"])
        bound = parameters.bind((desk, context, "ORD-1"), {})
        self.assertEqual(parameters.propose(bound), {"order_id": "ORD-1"})
        self.assertEqual(parameters.approved(bound, {"order_id": "ORD-2"}).args, (desk, context, "ORD-2"))

    def test_keywords_that_stay_here_are_passed_on_and_no_others_are_taken(self) -> None:
        def refund(order_id: str, /, *, cents: int, **options: object) -> None: ...

        parameters = Parameters(refund, ["options"])
        bound = parameters.bind(("ORD-1",), {"cents": 5, "dry_run": True})
        self.assertEqual(parameters.propose(bound), {"order_id": "ORD-1", "cents": 5})
        call = parameters.approved(bound, {"order_id": "ORD-1", "cents": 6})
        self.assertEqual((call.args, call.kwargs), (("ORD-1",), {"cents": 6, "dry_run": True}))
        with self.assertRaisesRegex(TypeError, "does not take dry_run"):
            parameters.approved(bound, {"order_id": "ORD-1", "cents": 6, "dry_run": False})

    def test_a_keyword_with_the_name_of_an_argument_that_is_given_by_place_is_refused(self) -> None:
        def function(a: int | None = None, /, **more: object) -> None: ...

        parameters = Parameters(function, ())
        with self.assertRaisesRegex(TypeError, "got a twice"):
            self.proposed(parameters, 1, a=2)
        self.assertEqual(self.proposed(parameters, 1, b=2, more=3), {"a": 1, "b": 2, "more": 3})

    def test_the_approved_arguments_alone_are_used(self) -> None:
        def function(a: int, /, b: int = 2, *, c: int = 3) -> None: ...

        parameters = Parameters(function, ())
        bound = parameters.bind((1,), {"b": 5, "c": 6})
        call = parameters.approved(bound, {"a": 7})
        self.assertEqual((call.args, call.kwargs), ((7, 2), {"c": 3}))
        for arguments, words in (({}, "needs a"), ({"a": 1, "d": 1, "e": 1}, "does not take d, e")):
            with self.assertRaisesRegex(TypeError, words):
                parameters.approved(bound, arguments)

    def test_an_argument_that_is_not_json_is_refused_with_its_name_before_anything_is_sent(self) -> None:
        @gated(CLIENT, tool="shop.refund")
        def refund(order: object) -> None: ...

        for value in (object(), {1, 2}, float("inf"), datetime.now(timezone.utc), b"x"):
            with self.assertRaisesRegex(TypeError, "order of .*refund cannot be shown on a card"):
                refund(value)

    def test_a_key_that_is_not_a_text_is_refused_wherever_it_is_because_json_would_make_it_one(self) -> None:
        @gated(CLIENT, tool="shop.adjust")
        def adjust(stock: object) -> None: ...

        for value in ({1: 5, "1": 7}, {None: 1}, [{"a": ({True: 1},)}]):
            with self.assertRaisesRegex(TypeError, "stock of .*adjust cannot be shown on a card.* is no text"):
                adjust(value)

    def test_an_argument_that_was_approved_as_it_is_keeps_its_type_and_an_edited_one_is_json(self) -> None:
        def ship(status: Status, pair: tuple[int, int], rate: float = 1.0, by: Status = Status.SHIPPED, **more: object) -> None: ...

        parameters = Parameters(ship, ())
        bound = parameters.bind((Status.SHIPPED, (1, 2)), {"more": (3,)})
        shown = {"status": "shipped", "pair": [1, 2], "rate": 1, "by": "shipped", "more": [3]}
        self.assertEqual(parameters.propose(bound), shown)
        call = parameters.approved(bound, shown)
        self.assertEqual(repr((call.args, call.kwargs)), repr(((Status.SHIPPED, (1, 2), 1.0, Status.SHIPPED), {"more": (3,)})))
        edited = {"status": "lost", "pair": [True, 2], "rate": 2, "by": "lost", "more": [4]}
        call = parameters.approved(bound, edited)
        self.assertEqual(repr((call.args, call.kwargs)), repr((("lost", [True, 2], 2, "lost"), {"more": [4]})))

    def test_an_argument_that_changed_while_the_call_waited_runs_as_it_was_approved(self) -> None:
        def ship(orders: list[str]) -> None: ...

        parameters = Parameters(ship, ())
        orders = ["ORD-1"]
        bound = parameters.bind((orders,), {})
        shown = parameters.propose(bound)
        orders.append("ORD-2")
        self.assertEqual(parameters.approved(bound, shown).args, (["ORD-1"],))

    def test_functions_whose_calls_cannot_be_shown_or_answered_are_refused_when_they_are_declared(self) -> None:
        def variadic(*orders: str) -> None: ...

        def plain(order: str) -> None: ...

        def generator() -> Iterator[int]:
            yield 1

        async def async_generator() -> AsyncIterator[int]:
            yield 1

        for function, local, words in (
            (variadic, [], r"\*orders"),
            (plain, ["context"], "no parameter context"),
            (generator, [], "generator"),
            (async_generator, [], "generator"),
        ):
            with self.assertRaisesRegex(TypeError, words):
                gated(CLIENT, tool="t", local=local)(function)  # pyright: ignore


class Decorated(unittest.TestCase):
    def test_frameworks_see_the_function_as_it_was(self) -> None:
        import inspect
        import typing

        @gated(CLIENT, tool="shop.refund")
        async def refund(order_id: str, cents: int = 5) -> str:
            """Refunds an order."""
            return order_id

        self.assertTrue(inspect.iscoroutinefunction(refund))
        self.assertEqual(str(inspect.signature(refund)), "(order_id: 'str', cents: 'int' = 5) -> 'str'")
        self.assertEqual(typing.get_type_hints(refund), {"order_id": str, "cents": int, "return": str})
        self.assertEqual((refund.__name__, refund.__doc__), ("refund", "Refunds an order."))
        self.assertEqual(refund.__module__, __name__)

    def test_unwrapping_it_does_not_lead_around_the_gate(self) -> None:
        import inspect

        @gated(CLIENT, tool="shop.refund")
        def refund(order_id: str) -> None:
            raise AssertionError("it ran")

        with self.assertRaises(ApiError):
            inspect.unwrap(refund)("ORD-1")

    def test_a_method_is_called_on_its_object(self) -> None:
        class Desk:
            @gated(CLIENT, tool="shop.refund")
            def refund(self, order_id: str) -> None: ...

        with self.assertRaisesRegex(ApiError, "cannot be reached"):
            Desk().refund("ORD-1")

    def test_a_key_is_sent_as_it_is_or_hashed_and_must_be_there(self) -> None:
        self.assertEqual(usable_key("run-1:call_1"), "run-1:call_1")
        for odd in ("with space", "Zoë", "x" * 256, "\ud800", "a\r\nb"):
            self.assertRegex(usable_key(odd), r"^sha256:[0-9a-f]{64}$")
            self.assertEqual(usable_key(usable_key(odd)), usable_key(odd))

        @gated(CLIENT, tool="shop.refund")
        def refund(order_id: str) -> None: ...

        with self.assertRaises(ValueError):
            refund.with_key("")
        with self.assertRaises(TypeError):
            refund.with_key(None)  # type: ignore[arg-type]

    def test_without_a_client_the_environment_is_read_at_the_first_call(self) -> None:
        with unittest.mock.patch.dict("os.environ", clear=True):

            @gated(tool="shop.refund")
            def refund(order_id: str) -> None: ...

            with self.assertRaisesRegex(ValueError, "COUNTERSIGN_KEY"):
                refund("ORD-1")


EXPIRED: dict[str, object] = {
    **{"id": "act_1", "tool": "shop.refund", "effect": "write", "executor": "client", "state": "expired"},
    **{"arguments": {}, "revision": 1, "digest": "sha256:", "description": "Refund"},
    "updatedAt": "2026-11-24T03:00:00.000Z",
}


class Small(unittest.TestCase):
    def test_a_call_that_was_approved_and_did_not_run_is_not_called_undecided_or_not_approved(self) -> None:
        approved = {"decidedAt": "2026-11-24T02:59:00.000Z"}
        unclaimed = "This was approved, but no client claimed it in time (act_1). Nothing was carried out."
        undecided = "Nobody decided about this in time (act_1). Nothing was carried out."
        withdrawn = {"kind": "withdrawn", "message": "Withdrawn by the agent desk", "retryable": False}
        for more, said, reason in (
            ({**approved, "outcome": {"status": "expired", "text": unclaimed}}, "carried out", unclaimed),
            ({"decidedAt": None, "outcome": {"status": "expired", "text": undecided}}, "approved", undecided),
            ({**approved, "state": "cancelled", "error": withdrawn}, "carried out", withdrawn["message"]),
            ({"decidedAt": None, "state": "cancelled", "error": withdrawn}, "approved", withdrawn["message"]),
            ({**approved, "state": "declined", "votes": [{"verdict": "decline", "reason": "No."}]}, "approved", "No."),
        ):
            action = read_action({**EXPIRED, **more})
            refusal = NotApproved(action, action.reason)
            self.assertEqual(str(refusal), f"shop.refund was not {said}: {reason}")
            because = "This was not done, because it was not approved" if said == "approved" else "This was not done"
            self.assertEqual(refusal_text(refusal), f"{because}: {reason}")

    def test_errors_cross_to_another_process(self) -> None:
        action = read_action(EXPIRED)
        issue = Issue("/cents", "is too much")
        for error in (
            ApiError("offline", 0, "No answer.", action=action, issues=(issue,), retry_after=3),
            NotApproved(action, "No."),
            CallFailed(action, "No."),
            OutcomeUnknown(action),
        ):
            again = pickle.loads(pickle.dumps(error))
            self.assertEqual((type(again), str(again), vars(again)), (type(error), str(error), vars(error)))

    def test_addresses_with_a_prefix_or_ipv6_are_kept(self) -> None:
        for given, shown in (
            ("https://approve.example.com/team/", "https://approve.example.com/team"),
            ("http://[::1]:4319", "http://[::1]:4319"),
        ):
            for client in (Client(given, "cs_x"), AsyncClient(given, "cs_x")):
                self.assertEqual(repr(client), f"{type(client).__name__}('{shown}')")

    def test_retry_after_is_seconds_or_a_date(self) -> None:
        later = format_datetime(datetime.now(timezone.utc) + timedelta(hours=1), usegmt=True)
        self.assertEqual(retry_seconds("7"), 7)
        # The difference is for a machine that stands still.
        self.assertAlmostEqual(retry_seconds(later) or 0, 3_600, delta=600)
        self.assertEqual(retry_seconds("Wed, 21 Oct 2015 07:28:00 GMT"), 0)
        for odd in (None, "", "soon", "-1", "²", "9" * 400):
            self.assertIn(retry_seconds(odd), (None, float("inf")))

    def test_version_and_licence_are_those_of_the_repository(self) -> None:
        self.assertIn(f'"version": "{countersign.__version__}"', (ROOT / "package.json").read_text())
        own = ROOT / "clients" / "python" / "LICENSE"
        self.assertEqual(own.read_text(), (ROOT / "LICENSE").read_text())
