"""Starts `tandem emulator` for a test: the Managed Agents API with a scripted model, on a scratch store.

Copy this file beside your tests. With pytest it is a fixture:

    from tandem_emulator import emulator  # noqa: F401

    def test_answer(emulator):
        emulator.script([{"tool": "Bash", "input": {"command": "ls"}}, "Done."])
        emulator.tools({"Bash": "a.txt"})
        client = anthropic.Anthropic(base_url=emulator.url, api_key=emulator.api_key)
        ...

Without pytest: `with start_emulator(["Done."]) as emulator: ...`.
"""

import contextlib
import json
import os
import subprocess
import urllib.error
import urllib.request
from typing import Any, Dict, Iterator, List, Optional, Sequence


class EmulatorError(Exception):
    """The emulator did not start, or refused a request."""


class Emulator:
    def __init__(self, process: "subprocess.Popen[str]", facts: Dict[str, Any]) -> None:
        self._process = process
        self.url: str = facts["url"]
        self.api_key: str = facts["api_key"]
        #: For programs that read their settings from the environment.
        self.variables: Dict[str, str] = facts["variables"]
        #: The folder of sessions in `env_local`.
        self.folder: str = facts["folder"]

    def script(self, replies: Sequence[Any]) -> None:
        """Replaces the model's answers: texts, {"text"}, {"tool", "input"} and {"error"}, with "when" and "times"."""
        self._call("PUT", "script", {"script": list(replies)})

    def tools(self, results: Dict[str, Any]) -> None:
        """What built-in tools answer: a text, or {"text", "isError"}."""
        self._call("PUT", "tools", results)

    def model(self) -> Dict[str, Any]:
        """The requests that the model got, those without a reply, and replies that no request used."""
        return self._call("GET", "model")

    def advance(self, seconds: float) -> None:
        """Moves the test clock forward. Schedules, expiries, retries and quotas follow it."""
        self._call("POST", "clock", {"advance_seconds": seconds})

    def move_to(self, time: str) -> None:
        """Moves the test clock forward to an ISO 8601 time."""
        self._call("POST", "clock", {"move_to": time})

    def fault(self, fault: Dict[str, Any], method: Optional[str] = None, path: Optional[str] = None, times: int = 1) -> None:
        """The next requests that match meet this fault, for example {"type": "lost_answer"}."""
        target = {"method": method, "path": path}
        self._call("POST", "faults", {"fault": fault, "times": times, **{k: v for k, v in target.items() if v}})

    def webhook_fault(self, fault: Dict[str, Any], times: int = 1) -> None:
        """The next webhook deliveries meet this fault, for example {"type": "duplicate"}."""
        self._call("POST", "webhook_faults", {"fault": fault, "times": times})

    @property
    def webhook_url(self) -> str:
        """Create a webhook endpoint with it; `webhooks` then lists what arrived."""
        return str(self._call("GET", "webhooks")["url"])

    def webhooks(self) -> List[Dict[str, Any]]:
        received: List[Dict[str, Any]] = self._call("GET", "webhooks")["received"]
        return received

    def restart(self, how: str = "stop") -> None:
        """Restarts the server on the same store. "kill" leaves it no last write."""
        self._call("POST", "restart", {"how": how})

    def close(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for stream in (self._process.stdout, self._process.stderr):
            if stream:
                stream.close()

    def _call(self, method: str, path: str, body: Optional[Dict[str, Any]] = None) -> Dict[str, Any]:
        request = urllib.request.Request(
            f"{self.url}/_emulator/{path}",
            method=method,
            headers={"x-api-key": self.api_key, "content-type": "application/json"},
            data=None if body is None else json.dumps(body).encode(),
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                answer: Dict[str, Any] = json.load(response)
                return answer
        except urllib.error.HTTPError as error:
            with error:
                raise EmulatorError(json.load(error)["error"]["message"]) from None


@contextlib.contextmanager
def start_emulator(
    script: Optional[Sequence[Any]] = None,
    *,
    claude_code: bool = False,
    now: Optional[str] = None,
    command: Optional[Sequence[str]] = None,
) -> Iterator[Emulator]:
    """Runs an emulator of its own until the end of the block. `command`: default TANDEM_COMMAND (a JSON list), or `tandem`."""
    start = list(command or json.loads(os.environ.get("TANDEM_COMMAND", '["tandem"]')))
    options = ["--json", *(["--claude-code"] if claude_code else []), *(["--now", now] if now else [])]
    process = subprocess.Popen(
        [*start, "emulator", *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout and process.stderr
    line = process.stdout.readline()
    if not line:
        process.wait()
        reason = process.stderr.read().strip()
        process.stdout.close()
        process.stderr.close()
        raise EmulatorError(f"The emulator did not start: {reason}")
    emulator_ = Emulator(process, json.loads(line))
    try:
        if script is not None:
            emulator_.script(script)
        yield emulator_
    finally:
        emulator_.close()


try:
    import pytest
except ImportError:
    pass
else:

    @pytest.fixture
    def emulator() -> Iterator[Emulator]:
        """An emulator of its own for each test."""
        with start_emulator() as running:
            yield running
