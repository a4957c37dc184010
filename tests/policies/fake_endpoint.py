"""A server on loopback that speaks /chat/completions, streamed and whole, and has the faults it is told to have."""

import json
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Turn:
    """How one request is answered.

    Attributes:
        text: the answer.
        reasoning: the thinking, under the name of `reasoning_field`.
        status: of HTTP; other than 200 sends `body` alone.
        headers: of the response, besides the usual.
        body: sent instead of an answer in the protocol; "{key}" stands for the Authorization header.
        usage: whether token counts are sent.
        finish: the finish reason; None leaves it out, and the end mark of a stream too.
        drop: the connection ends in the middle.
        delay: seconds before the answer.
        stream: overrides what the request asks for.
    """

    text: str = ""
    reasoning: str = ""
    reasoning_field: str = "reasoning_content"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: str | None = None
    usage: bool = True
    finish: str | None = "stop"
    drop: bool = False
    delay: float = 0.0
    stream: bool | None = None


@dataclass
class FakeEndpoint:
    """The running server: its turns in order, the last one for ever, and what it was asked.

    Attributes:
        base_url: for the settings.
        turns: how requests are answered.
        refuses: fields of requests that get 400; these requests use up no turn.
        names_the_field: whether the refusal says which.
        requests: the bodies it was sent.
        authorizations: the header of each.
    """

    base_url: str
    turns: list[Turn]
    refuses: set[str] = field(default_factory=set)
    names_the_field: bool = True
    requests: list[dict[str, Any]] = field(default_factory=list)
    authorizations: list[str | None] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    closing: threading.Event = field(default_factory=threading.Event)

    def next_turn(self, request: dict[str, Any], authorization: str | None) -> Turn:
        with self.lock:
            self.requests.append(request)
            self.authorizations.append(authorization)
            if refused := sorted(self.refuses & set(request)):
                word = refused[0] if self.names_the_field else "a field"
                return Turn(status=400, body=json.dumps({"error": {"message": f"{word} is not supported"}}))
            return self.turns.pop(0) if len(self.turns) > 1 else self.turns[0]


@contextmanager
def fake_endpoint(turns: Sequence[Turn]) -> Iterator[FakeEndpoint]:
    """Runs the server for the length of a with statement."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    endpoint = FakeEndpoint(f"http://127.0.0.1:{server.server_port}/v1", list(turns))
    server.endpoint = endpoint  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield endpoint
    finally:
        endpoint.closing.set()
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        """Is silent."""

    def do_POST(self) -> None:
        self.close_connection = True
        endpoint: FakeEndpoint = self.server.endpoint  # type: ignore[attr-defined]
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        authorization = self.headers.get("Authorization")
        turn = endpoint.next_turn(request, authorization)
        endpoint.closing.wait(turn.delay)
        if self.path != "/v1/chat/completions":
            turn = Turn(status=404, body="no such path")
        stream = request.get("stream", False) if turn.stream is None else turn.stream
        try:
            if turn.body is not None:
                self._send(turn, turn.body.replace("{key}", str(authorization)), stream and turn.status == 200)
            elif stream:
                usage = turn.usage and "stream_options" in request
                self._send(turn, "".join(_events(turn, usage)), True)
            else:
                self._send(turn, json.dumps(_whole(turn)), False)
        except OSError:
            return  # the other side has given up

    def _send(self, turn: Turn, body: str, stream: bool) -> None:
        data = body.encode()
        self.send_response(turn.status)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8" if stream else "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Connection", "close")
        for name, value in turn.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data[: len(data) // 2] if turn.drop else data)


def _whole(turn: Turn) -> dict[str, Any]:
    message = {"role": "assistant", "content": turn.text or None, turn.reasoning_field: turn.reasoning or None}
    answer = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": "served",
        "choices": [{"index": 0, "message": message, "finish_reason": turn.finish}],
    }
    return answer | ({"usage": _usage(turn)} if turn.usage else {})


def _events(turn: Turn, usage: bool) -> Iterator[str]:
    """Yields the events as servers send them: a role, the thinking, the text in small pieces, the end, the usage."""
    yield ": keep-alive\n\n"
    yield _event({"role": "assistant", "content": ""})
    for start in range(0, len(turn.reasoning), 7):
        yield _event({turn.reasoning_field: turn.reasoning[start : start + 7]})
    for start in range(0, len(turn.text), 7):
        yield _event({"content": turn.text[start : start + 7]})
    if turn.finish is None:
        return
    yield _event({}, turn.finish)
    if usage:
        yield f"data: {json.dumps({'model': 'served', 'choices': [], 'usage': _usage(turn)})}\n\n"
    yield "data: [DONE]\n\n"


def _event(delta: dict[str, str], finish: str | None = None) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return f"data: {json.dumps({'object': 'chat.completion.chunk', 'model': 'served', 'choices': [choice]})}\n\n"


def _usage(turn: Turn) -> dict[str, Any]:
    tokens = len((turn.reasoning + " " + turn.text).split())
    return {
        "prompt_tokens": 100,
        "completion_tokens": tokens,
        "total_tokens": 100 + tokens,
        "prompt_tokens_details": None,
    }
