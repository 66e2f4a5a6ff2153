"""One HTTP request and its answer, by the standard library alone."""

from __future__ import annotations

import contextlib
import http.client
import socket
import ssl
import threading
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from .errors import ApiError
from .version import __version__

CONNECT_SECONDS = 10.0
MOST_BYTES = 32 * 1024 * 1024


class Secret:
    """A key that no ``repr``, log line or traceback of this package shows."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        # http.client would name the value in its own error.
        if not value or len(value) > 500 or not value.isascii() or any(not "!" <= char <= "~" for char in value):
            raise ValueError("the key is not usable: it has to be 1 to 500 printable ASCII characters without spaces")
        self._value = value

    def __repr__(self) -> str:
        return "Secret('…')"

    def header(self) -> str:
        """The value of the header that says who calls."""
        return f"Bearer {self._value}"

    def hide_in(self, text: str) -> str:
        """The text without the key: a server may send it back."""
        return text.replace(self._value, "…")


@dataclass(frozen=True)
class Address:
    """Where the server is."""

    scheme: str
    host: str
    port: int | None
    prefix: str

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}{'' if self.port is None else f':{self.port}'}{self.prefix}"


def read_address(base_url: str) -> Address:
    """The address in a URL such as ``https://approve.example.com`` or ``http://127.0.0.1:4319``.

    :raises ValueError: for anything else, above all for one with a name and password in it.
    """
    try:
        parts = urlsplit(base_url)
        port = parts.port
    except ValueError:
        raise ValueError("base_url is not an address such as http://127.0.0.1:4319") from None
    if parts.username is not None or parts.password is not None:
        raise ValueError("base_url must not contain a name or a password: a key goes into key=")
    is_odd = parts.query or parts.fragment or any(not "!" <= char <= "~" for char in base_url)
    if parts.scheme not in ("http", "https") or not parts.hostname or is_odd:
        raise ValueError("base_url is not an address such as http://127.0.0.1:4319")
    return Address(parts.scheme, parts.hostname, port, parts.path.rstrip("/"))


@dataclass(frozen=True)
class Request:
    """What is sent. ``path`` begins with a slash and has its query."""

    method: str
    path: str
    body: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict[str, str])
    #: Seconds for all of it, from the connection to the last byte of the answer.
    timeout: float = 30.0


@dataclass(frozen=True)
class Answer:
    """What came back, whole."""

    status: int
    body: bytes
    location: str | None
    retry_after: str | None


class Exchange:
    """Sends one request, once, and reads the whole answer. No redirect is followed and no proxy of the environment used.

    :meth:`abort` ends it from another thread.
    """

    def __init__(self, address: Address, secret: Secret, context: ssl.SSLContext | None, request: Request) -> None:
        self._address = address
        self._secret = secret
        self._request = request
        self._connection: http.client.HTTPConnection
        timeout = min(CONNECT_SECONDS, request.timeout)
        if address.scheme == "https":
            self._connection = http.client.HTTPSConnection(address.host, address.port, timeout=timeout, context=context)
        else:
            self._connection = http.client.HTTPConnection(address.host, address.port, timeout=timeout)
        self._is_aborted = False

    def abort(self) -> None:
        """Breaks the connection off, so that :meth:`run` ends."""
        self._is_aborted = True
        self._shut_down()

    @property
    def timeout(self) -> float:
        """Seconds after which somebody has to call :meth:`abort`: a timeout of the socket starts anew with every byte."""
        return self._request.timeout

    def run_watched(self) -> Answer:
        """:meth:`run`, ended in time by a thread of its own."""
        watchdog = threading.Timer(self.timeout, self.abort)
        watchdog.daemon = True
        watchdog.start()
        try:
            return self.run()
        finally:
            watchdog.cancel()

    def run(self) -> Answer:
        """The answer. :raises ApiError: ``offline`` or ``untrusted_certificate``."""
        try:
            return self._send()
        except ssl.SSLCertVerificationError as cause:
            detail = f"The certificate of {self._address} is not trusted: {cause.verify_message}."
            raise ApiError("untrusted_certificate", 0, detail) from None
        except OSError as cause:
            raise self._offline(self._secret.hide_in(str(cause))) from None
        except http.client.HTTPException as cause:
            raise self._offline(type(cause).__name__) from None
        except (ValueError, AttributeError) as cause:
            # The standard library raises these when another thread closes the connection.
            if not self._is_aborted:
                raise
            raise self._offline(type(cause).__name__) from None
        finally:
            self._connection.close()

    def _send(self) -> Answer:
        connection, request = self._connection, self._request
        connection.connect()
        connection.sock.settimeout(request.timeout)
        if self._is_aborted:
            self._shut_down()
        headers = {
            "accept": "application/json",
            "authorization": self._secret.header(),
            "connection": "close",
            "user-agent": f"countersign-python/{__version__}",
            **request.headers,
        }
        connection.request(request.method, self._address.prefix + request.path, body=request.body, headers=headers)
        response = connection.getresponse()
        body = self._read(response)
        if self._is_aborted:
            # A head that was cut off looks like a whole one.
            raise http.client.IncompleteRead(b"")
        return Answer(response.status, body, response.getheader("location"), response.getheader("retry-after"))

    def _read(self, response: http.client.HTTPResponse) -> bytes:
        body = bytearray()
        expected = response.length
        while chunk := response.read(65_536):
            body += chunk
            if len(body) > MOST_BYTES:
                raise http.client.HTTPException("the answer is too long")
        if expected is not None and len(body) != expected:
            raise http.client.IncompleteRead(b"", expected - len(body))
        return bytes(body)

    def _shut_down(self) -> None:
        connected: socket.socket | None = getattr(self._connection, "sock", None)
        if connected is not None:
            # Of the plain socket: that of TLS would also take itself apart, under the hands of the thread that reads.
            with contextlib.suppress(OSError):
                socket.socket.shutdown(connected, socket.SHUT_RDWR)

    def _offline(self, why: str) -> ApiError:
        if self._is_aborted:
            why = f"no whole answer within {self._request.timeout:g} s"
        return ApiError("offline", 0, f"{self._address} cannot be reached: {why}.")
