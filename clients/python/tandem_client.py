"""A client of `tandem stdio`: one file, Python 3.9 or later, nothing but the standard library.

    from tandem_client import Tandem

    with Tandem.start(project="~/src/shop") as tandem:
        agent = tandem.call("agents.create", name="Helper", model="sonnet")
        session = tandem.call("sessions.create", agent=agent["id"], environment_id="env_local")
        for event in tandem.turn(session["id"], "What is in this folder?"):
            print(event["type"])

Methods and their params are those of `tandem stdio`'s reference; params are keyword arguments, or a dict where a name is
no Python name (`created_at[gte]`). A client may be used by several threads.
"""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections import deque
from typing import Any, Callable, Deque, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Union

__all__ = ["Tandem", "TandemError", "Item", "Stream"]

PROTOCOL = 1
# Size of the buffer of a slowly read stream before backpressure on Tandem.
MOST_WAITING = 1_000
START_SECONDS = 60.0
CLOSE_SECONDS = 20.0
# Tandem says at once that something is cancelled, unless it hangs.
CANCEL_SECONDS = 5.0

Json = Dict[str, Any]


class TandemError(Exception):
    """A request was refused, or Tandem is gone (type "gone")."""

    def __init__(self, error: Mapping[str, Any]) -> None:
        super().__init__(error.get("message", ""))
        self.type: str = error.get("type", "api_error")
        self.message: str = error.get("message", "")
        self.status: int = error.get("status", 500)
        self.details: Optional[Json] = error.get("details")
        self.request_id: Optional[str] = error.get("request_id")


class Item(NamedTuple):
    """One event of a stream."""

    #: Where to go on: given as `after`. Previews have none.
    cursor: Optional[str]
    event: Json


_GONE: Json = {"type": "gone", "message": "Tandem has ended.", "status": 503}


class Stream(Iterator[Item]):
    """Events as they happen; close it, or use it in a `with` statement."""

    def __init__(self, client: "Tandem", id: int) -> None:
        self._client = client
        self._id = id
        self._waiting: Deque[Item] = deque()
        self._is_over = False
        self._error: Optional[Json] = None
        #: The cursor of the last event that was read.
        self.cursor: Optional[str] = None

    def __iter__(self) -> "Stream":
        return self

    def __next__(self) -> Item:
        item = self._client._next_item(self)
        if item is None:
            if self._error is not None:
                raise TandemError(self._error)
            raise StopIteration
        self.cursor = item.cursor or self.cursor
        return item

    def close(self) -> None:
        """Ends it; what is on the way is dropped."""
        self._client._close_stream(self)

    def __enter__(self) -> "Stream":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _is_question(event: Json) -> bool:
    return event["type"] == "agent.custom_tool_use" and event["name"] == "ask_user_question"


class Tandem:
    """A Tandem of one's own, for as long as it is not closed."""

    def __init__(self, process: "subprocess.Popen[bytes]", hello: Json) -> None:
        self._process = process
        #: What Tandem is and can do: version, engine, capabilities, limits.
        self.hello = hello
        self._news = threading.Condition()
        self._writing = threading.Lock()
        self._last_id = 0
        self._answers: Dict[int, Optional[Json]] = {}
        self._streams: Dict[int, Stream] = {}
        self._is_gone = False
        self._is_closing = False
        self._reader = threading.Thread(target=self._read, name="tandem", daemon=True)
        self._reader.start()

    @classmethod
    def start(
        cls,
        command: Sequence[str] = ("tandem",),
        *,
        project: Optional[str] = None,
        cwd: Optional[str] = None,
        env: Optional[Mapping[str, str]] = None,
        name: Optional[str] = None,
    ) -> "Tandem":
        """Starts Tandem and agrees on the protocol. `name` says what this program is: "shop/2.1"."""
        at = [] if project is None else ["--project", os.path.expanduser(project)]
        process = subprocess.Popen(
            [*command, *at, "stdio"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=cwd,
            env=None if env is None else dict(env),
        )
        # A Tandem that says nothing is not waited for without end.
        overdue = threading.Timer(START_SECONDS, process.kill)
        overdue.start()
        try:
            assert process.stdout is not None
            text = process.stdout.readline()
            first: Json = json.loads(text) if text else {"error": _GONE}
            if "hello" not in first:
                raise TandemError(first.get("error", _GONE))
            client = cls(process, first["hello"])
            params: Json = {"protocol": PROTOCOL}
            if name is not None:
                params["client"] = name
            client.call("hello", params)
            return client
        except BaseException:
            process.kill()
            process.wait()
            raise
        finally:
            overdue.cancel()

    def call(
        self, method: str, params: Optional[Mapping[str, Any]] = None, *, timeout: Optional[float] = None, **more: Any
    ) -> Any:
        """One request, and its result. Raises TandemError. After `timeout` seconds it is cancelled: TimeoutError."""
        id = self._send(method, {**(params or {}), **more})
        answer = self._answer(id, timeout)
        if answer is None:
            with self._news:
                self._answers.pop(id, None)
            self._cancel(id)
            raise TimeoutError(f"{method} was not answered within {timeout} s.")
        return answer

    def stream(self, method: str, params: Optional[Mapping[str, Any]] = None, **more: Any) -> Stream:
        """Opens a stream; what happens from then on is in it."""
        id = self._send(method, {**(params or {}), **more}, is_stream=True)
        stream = self._streams[id]
        try:
            self._answer(id, None)
        except TandemError:
            with self._news:
                self._streams.pop(id, None)
            raise
        return stream

    def turn(
        self, session_id: str, text: str, approve: Optional[Callable[[Json], Union[bool, str]]] = None
    ) -> Iterator[Json]:
        """Says something in a session, and yields what happens until the agent has done with it.

        `approve` is asked about every call that needs a person: True allows it, a text denies it and is the
        reason that the agent sees. Without it, all such calls are denied. Questions of the agent are declined; to answer
        them, use `stream`.
        """
        calls: Dict[str, Json] = {}
        with self.stream("sessions.events.stream", session_id=session_id, tandem=True) as stream:
            message = {"type": "user.message", "content": [{"type": "text", "text": text}]}
            self.call("sessions.events.send", session_id=session_id, events=[message])
            for cursor, event in stream:
                if cursor is None:
                    continue
                if "evaluated_permission" in event or _is_question(event):
                    calls[event["id"]] = event
                yield event
                if event["type"] != "session.status_idle":
                    continue
                reason = event["stop_reason"]
                if reason["type"] != "requires_action":
                    return
                for id in reason["event_ids"]:
                    call = calls.pop(id, None)
                    if call is not None and _is_question(call):
                        self._decline(session_id, id)
                    elif call is not None:
                        self.answer(session_id, id, approve(call) if approve else False)

    def answer(self, session_id: str, tool_use_id: str, verdict: Union[bool, str]) -> None:
        """Answers a call that waits for a person: True allows it, False or a reason denies it."""
        event: Json = {
            "type": "user.tool_confirmation",
            "tool_use_id": tool_use_id,
            "result": "allow" if verdict is True else "deny",
        }
        if isinstance(verdict, str):
            event["deny_message"] = verdict
        self.call("sessions.events.send", session_id=session_id, events=[event])

    def close(self) -> None:
        """Closes Tandem's input, lets it end what it has under way, and sees to it that it is gone."""
        with self._news:
            if self._is_closing:
                return
            self._is_closing = True
            self._news.notify_all()
        assert self._process.stdin is not None
        try:
            with self._writing:
                self._process.stdin.close()
        except OSError:
            pass  # Gone already.
        for end in (self._process.terminate, self._process.kill, None):
            try:
                self._process.wait(CLOSE_SECONDS)
                break
            except subprocess.TimeoutExpired:
                if end is not None:
                    end()
        self._reader.join(CLOSE_SECONDS)
        if self._process.stdout is not None and not self._reader.is_alive():
            self._process.stdout.close()

    def __enter__(self) -> "Tandem":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # What follows is not for others.

    def _decline(self, session_id: str, question_id: str) -> None:
        event: Json = {
            "type": "user.custom_tool_result",
            "custom_tool_use_id": question_id,
            "is_error": True,
            "content": [{"type": "text", "text": "Nobody is here to answer."}],
        }
        self.call("sessions.events.send", session_id=session_id, events=[event])

    def _send(self, method: str, params: Json, is_stream: bool = False) -> int:
        with self._news:
            if self._is_gone or self._is_closing:
                raise TandemError(_GONE)
            id = self._last_id + 1
            # Raises here if it cannot be written, before a caller waits for the answer.
            line = json.dumps({"id": id, "method": method, "params": params}, ensure_ascii=False).encode() + b"\n"
            self._last_id = id
            self._answers[id] = None
            if is_stream:
                self._streams[id] = Stream(self, id)
            # A pending request must get its answer even if a stream is not being read.
            self._news.notify_all()
        assert self._process.stdin is not None
        try:
            with self._writing:
                self._process.stdin.write(line)
                self._process.stdin.flush()
        except (OSError, ValueError):
            with self._news:
                self._answers.pop(id, None)
                self._streams.pop(id, None)
            raise TandemError(_GONE) from None
        return id

    def _answer(self, id: int, timeout: Optional[float]) -> Any:
        with self._news:
            self._news.wait_for(lambda: self._answers[id] is not None or self._is_gone, timeout)
            line = self._answers[id]
            if line is None and not self._is_gone:
                return None
            del self._answers[id]
            self._news.notify_all()
        if line is None:
            raise TandemError(_GONE)
        if "error" in line:
            raise TandemError(line["error"])
        return line["result"]

    def _cancel(self, id: int) -> None:
        try:
            cancel = self._send("cancel", {"id": id})
            if self._answer(cancel, CANCEL_SECONDS) is None:
                with self._news:
                    self._answers.pop(cancel, None)
        except TandemError:
            pass  # It is gone, and with it what was to be cancelled.

    def _next_item(self, stream: Stream) -> Optional[Item]:
        with self._news:
            self._news.wait_for(lambda: len(stream._waiting) > 0 or stream._is_over)
            if not stream._waiting:
                return None
            item = stream._waiting.popleft()
            if len(stream._waiting) == MOST_WAITING - 1:
                self._news.notify_all()
            return item

    def _close_stream(self, stream: Stream) -> None:
        with self._news:
            is_open = not stream._is_over
            stream._is_over = True
            stream._waiting.clear()
            self._streams.pop(stream._id, None)
            self._news.notify_all()
        if is_open and not self._is_gone:
            self._cancel(stream._id)

    def _must_wait(self) -> bool:
        """Whether a stream is read too slowly and no request is pending, whose answer comes later."""
        if self._is_closing or any(answer is None for answer in self._answers.values()):
            return False
        return any(len(stream._waiting) >= MOST_WAITING for stream in self._streams.values())

    def _read(self) -> None:
        assert self._process.stdout is not None
        try:
            for text in self._process.stdout:
                line: Json = json.loads(text)
                with self._news:
                    self._receive(line)
                    self._news.notify_all()
                    self._news.wait_for(lambda: not self._must_wait())
        except (OSError, ValueError, TypeError, AttributeError, KeyError):
            pass  # As if it had ended: what is not a line of Tandem's is not waited beyond.
        with self._news:
            self._is_gone = True
            streams: List[Stream] = list(self._streams.values())
            for stream in streams:
                if not stream._is_over and not self._is_closing:
                    stream._error = _GONE
                stream._is_over = True
            self._news.notify_all()

    def _receive(self, line: Json) -> None:
        if "stream" not in line:
            if line.get("id") in self._answers:
                self._answers[line["id"]] = line
            return
        stream = self._streams.get(line["stream"])
        if stream is None:
            return
        if "end" in line:
            stream._is_over = True
            stream._error = line["end"].get("error")
            del self._streams[line["stream"]]
        else:
            stream._waiting.append(Item(line.get("cursor"), line["event"]))
