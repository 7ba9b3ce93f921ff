"""Drives a real `tandem emulator`. TANDEM_COMMAND is a JSON list, such as ["tandem"]."""

import json
import time
import unittest
import urllib.request
from typing import Any, Dict, Optional

from tandem_emulator import Emulator, EmulatorError, start_emulator


def call(emulator: Emulator, path: str, body: Optional[Dict[str, Any]] = None) -> Dict[str, Any]:
    headers = {"x-api-key": emulator.api_key, "content-type": "application/json"}
    headers["anthropic-beta"] = "managed-agents-2026-04-01"
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{emulator.url}{path}", data=data, headers=headers)
    with urllib.request.urlopen(request, timeout=60) as response:
        answer: Dict[str, Any] = json.load(response)
        return answer


class Emulated(unittest.TestCase):
    def test_a_turn_follows_the_script(self) -> None:
        with start_emulator([{"tool": "Bash", "input": {"command": "ls"}}, "Done."]) as emulator:
            emulator.tools({"Bash": "a.txt"})
            toolset = {"type": "agent_toolset_20260401"}
            agent = call(emulator, "/v1/agents", {"name": "tester", "model": "claude-sonnet-5-5", "tools": [toolset]})
            message = {"type": "user.message", "content": [{"type": "text", "text": "Begin."}]}
            session = call(
                emulator,
                "/v1/sessions",
                {"agent": agent["id"], "environment_id": "env_local", "initial_events": [message]},
            )
            texts: list = []
            deadline = time.monotonic() + 60
            while not texts and time.monotonic() < deadline:
                events = call(emulator, f"/v1/sessions/{session['id']}/events?limit=100")["data"]
                texts = [block["text"] for event in events if event["type"] == "agent.message" for block in event["content"]]
            self.assertEqual(texts, ["Done."])
            self.assertEqual(emulator.model()["requests"][1]["tool_results"][0]["text"], "a.txt")
            emulator.restart("kill")
            self.assertEqual(call(emulator, f"/v1/sessions/{session['id']}")["id"], session["id"])

    def test_a_wrong_script_is_refused_with_the_entry(self) -> None:
        with start_emulator() as emulator:
            with self.assertRaisesRegex(EmulatorError, r"\[1\]"):
                emulator.script(["fine", {"tool": 5}])


if __name__ == "__main__":
    unittest.main()
