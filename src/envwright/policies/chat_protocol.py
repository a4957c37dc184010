"""Reads what a server answers to /chat/completions, streamed or whole: untrusted and often partial."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

MAX_TEXT_CHARACTERS = 1_000_000
"""A longer text counts as cut off; four times the longest answers of models that think aloud."""

REASONING_FIELDS = ("reasoning_content", "reasoning")
"""Both names are in use for a model's thinking, also among versions of one server."""

END = "[DONE]"


class UnreadableAnswer(ValueError):
    """The answer is broken or stops early; asking again may help. The message may quote the server."""


@dataclass
class ChatAnswer:
    """What one answer says so far; `usage` holds token counts as the server names them."""

    text: str = ""
    reasoning: str = ""
    finish_reason: str | None = None
    model: str | None = None
    usage: dict[str, int] = field(default_factory=dict)

    @property
    def truncated(self) -> bool:
        """Whether the answer hit the token limit or ours."""
        return self.finish_reason == "length" or len(self.text) > MAX_TEXT_CHARACTERS


def read_whole(body: str) -> ChatAnswer:
    """Returns the answer of a response that is one JSON object.

    Raises:
        UnreadableAnswer: it is not JSON, or holds no message.
    """
    answer = ChatAnswer()
    if not _add(answer, _object(body), "message"):
        raise UnreadableAnswer("the answer holds no message")
    return answer


def read_stream(body: str) -> ChatAnswer:
    """Returns the answer of a stream of server-sent events.

    Raises:
        UnreadableAnswer: an event is not JSON or reports an error, or the stream stops before its end.
    """
    answer, ended = ChatAnswer(), False
    texts: list[str] = []
    thoughts: list[str] = []
    for data in _events(body):
        if data == END:
            ended = True
            break
        piece = ChatAnswer()
        _add(piece, _object(data), "delta")
        texts.append(piece.text)
        thoughts.append(piece.reasoning)
        answer.finish_reason = piece.finish_reason or answer.finish_reason
        answer.model = piece.model or answer.model
        answer.usage |= piece.usage
    if not ended and answer.finish_reason is None:
        raise UnreadableAnswer("the stream stopped before its end")
    answer.text, answer.reasoning = "".join(texts), "".join(thoughts)
    return answer


def _events(text: str) -> Iterator[str]:
    """Yields the data of each event; comments and other fields are left out."""
    lines: list[str] = []
    for line in (*text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), ""):
        if line.startswith("data:"):
            lines.append(line[5:].removeprefix(" "))
        elif not line and lines:
            yield "\n".join(lines).strip()
            lines = []


def _object(text: str) -> dict[str, Any]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableAnswer(f"the answer must be JSON, got {text[:80]!r}") from error
    if not isinstance(data, dict):
        raise UnreadableAnswer(f"the answer must be a JSON object, got {text[:80]!r}")
    if data.get("error") and not data.get("choices"):
        raise UnreadableAnswer(f"the server reported {json.dumps(data['error'])[:200]}")
    return data


def _add(answer: ChatAnswer, data: dict[str, Any], part: str) -> bool:
    """Fills the answer from one object; returns whether it held a message or a delta."""
    if isinstance(model := data.get("model"), str):
        answer.model = model
    if isinstance(usage := data.get("usage"), dict):
        answer.usage = {name: value for name, value in usage.items() if type(value) is int and 0 <= value < 10**12}
    choices = data.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, dict):
        return False
    if isinstance(reason := choice.get("finish_reason"), str):
        answer.finish_reason = reason
    message = choice.get(part)
    if not isinstance(message, dict):
        return False
    answer.text = _text(message.get("content"))
    answer.reasoning = next((text for name in REASONING_FIELDS if (text := _text(message.get(name)))), "")
    return True


def _text(content: Any) -> str:
    """Returns the text of a content field: a string, or a list of parts of which those with a text count."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str))
