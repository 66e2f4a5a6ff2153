"""Stands between a client and a real server, and spoils what it is told to."""

from __future__ import annotations

import http.client
import socket
import ssl
import subprocess
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Seen:
    """One request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def step(self) -> str:
        """`propose`, `wait`, `claim` or `result`."""
        if self.method == "GET":
            return "wait"
        return "propose" if self.path == "/api/actions" else self.path.rpartition("/")[2]


#: Makes what is sent back from the request and the real answer; None closes the connection without a byte.
Spoil = Callable[[Seen, Callable[[], bytes]], bytes | None]


def answer(status: int, body: str = "{}", *headers: str) -> bytes:
    """A whole answer."""
    lines = [f"HTTP/1.1 {status} X", "content-type: application/json", f"content-length: {len(body.encode())}", *headers]
    return ("\r\n".join([*lines, "connection: close", "", ""]) + body).encode()


def half(whole: bytes) -> bytes:
    """The head of an answer and half of its body."""
    head, _, body = whole.partition(b"\r\n\r\n")
    return head + b"\r\n\r\n" + body[: len(body) // 2]


class FaultProxy:
    """Use as a context manager. `seen` has every request."""

    def __init__(self, target_port: int, spoil: Spoil) -> None:
        self.seen: list[Seen] = []
        self._target_port = target_port
        self._spoil = spoil
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> FaultProxy:
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()

    def steps(self, step: str) -> list[Seen]:
        return [seen for seen in self.seen if seen.step == step]

    def _accept(self) -> None:
        while True:
            try:
                peer, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(peer,), daemon=True).start()

    def _serve(self, peer: socket.socket) -> None:
        with peer, peer.makefile("rb") as stream:
            try:
                method, path, _ = stream.readline().decode().split(" ")
                headers = {name.lower(): value for name, value in http.client.parse_headers(stream).items()}
                seen = Seen(method, path, headers, stream.read(int(headers.get("content-length", "0"))))
                self.seen.append(seen)
                given = self._spoil(seen, lambda: self._forward(seen))
                if given is not None:
                    peer.sendall(given)
            except (OSError, ValueError, http.client.HTTPException):
                return

    def _forward(self, seen: Seen) -> bytes:
        connection = http.client.HTTPConnection("127.0.0.1", self._target_port)
        try:
            kept = {name: value for name, value in seen.headers.items() if name not in ("connection", "content-length")}
            connection.request(seen.method, seen.path, seen.body or None, kept)
            got = connection.getresponse()
            return answer(got.status, got.read().decode())
        finally:
            connection.close()


class Dripping:
    """Sends a byte every 50 ms, and never comes to an end by itself. Use as a context manager."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._ended = threading.Event()
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._drip, daemon=True).start()

    def __enter__(self) -> Dripping:
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._listener.close()

    def _drip(self) -> None:
        peer, _ = self._listener.accept()
        with peer:
            try:
                peer.sendall(b"HTTP/1.1 200 OK\r\nx: ")
                while not self._ended.wait(0.05):
                    peer.sendall(b"y")
            except OSError:
                return


class SelfSigned:
    """An HTTPS server whose certificate nobody vouches for; it answers 404. Use as a context manager."""

    def __init__(self) -> None:
        self.received = b""
        self._folder = tempfile.TemporaryDirectory(prefix="countersign-tls-")
        folder = Path(self._folder.name)
        self.certificate = str(folder / "certificate.pem")
        key = str(folder / "key.pem")
        made = ["-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
        command = ["openssl", "req", "-x509", *made, "-keyout", key, "-out", self.certificate]
        subprocess.run(command, check=True, capture_output=True)
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(self.certificate, key)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"https://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> SelfSigned:
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()
        self._folder.cleanup()

    def _accept(self) -> None:
        while True:
            try:
                peer, _ = self._listener.accept()
            except OSError:
                return
            with peer:
                try:
                    with self._context.wrap_socket(peer, server_side=True) as secure:
                        self.received += secure.recv(65_536)
                        secure.sendall(answer(404, '{"code": "not_found", "detail": "Not found"}'))
                except OSError:
                    continue
