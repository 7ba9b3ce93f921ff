"""Drives a real Tandem. Where it is, and how it is started, say two variables:

TANDEM_COMMAND   a JSON list, such as ["tandem"]
TANDEM_PROJECT   a folder whose sessions ask a model that answers as these tests expect (a rehearsal)
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
import unittest
from typing import Any, Dict, List

from tandem_client import Tandem, TandemError

COMMAND = json.loads(os.environ["TANDEM_COMMAND"])
PROJECT = pathlib.Path(os.environ["TANDEM_PROJECT"])


def texts(events: List[Dict[str, Any]]) -> List[str]:
    return [block["text"] for event in events if event["type"] == "agent.message" for block in event["content"]]


class Conversation(unittest.TestCase):
    tandem: Tandem

    @classmethod
    def setUpClass(cls) -> None:
        cls.tandem = Tandem.start(COMMAND, cwd=str(PROJECT), name="tests/1.0")

    @classmethod
    def tearDownClass(cls) -> None:
        cls.tandem.close()

    def session(self) -> str:
        tools = [{"type": "agent_toolset_20260401"}]
        agent = self.tandem.call("agents.create", name="Helper", model="sonnet", tools=tools)
        return self.tandem.call("sessions.create", agent=agent["id"], environment_id="env_local")["id"]

    def test_hello(self) -> None:
        self.assertEqual(self.tandem.hello["product"], "tandem")
        self.assertIn("sessions.create", self.tandem.hello["capabilities"]["methods"])

    def test_a_call_that_is_allowed(self) -> None:
        asked: List[str] = []

        def approve(call: Dict[str, Any]) -> bool:
            asked.append(call["name"])
            return True

        events = list(self.tandem.turn(self.session(), "Write allowed.txt", approve))
        self.assertEqual(asked, ["Bash"])
        self.assertEqual(texts(events)[-1], "It is there.")
        self.assertEqual(events[-1]["type"], "session.status_idle")
        self.assertTrue((PROJECT / "allowed.txt").exists())

    def test_a_call_that_is_denied_with_a_reason(self) -> None:
        events = list(self.tandem.turn(self.session(), "Write denied.txt", lambda call: "Not today."))
        self.assertEqual(texts(events)[-1], "Then not.")
        self.assertIn("Not today.", json.dumps([event for event in events if event["type"] == "agent.tool_result"]))
        self.assertFalse((PROJECT / "denied.txt").exists())

    def test_nobody_who_could_allow_it(self) -> None:
        events = list(self.tandem.turn(self.session(), "Write alone.txt"))
        self.assertEqual(texts(events)[-1], "Then not.")

    def test_a_stream_goes_on_after_a_cursor(self) -> None:
        session = self.session()
        whole = list(self.tandem.turn(session, "Hello."))
        with self.tandem.stream("sessions.events.stream", session_id=session, after="0", tandem=True) as stream:
            first = next(stream)
        self.assertEqual(first.event["type"], "user.message")
        with self.tandem.stream("sessions.events.stream", session_id=session, after=first.cursor, tandem=True) as stream:
            rest = [next(stream).event for _ in whole[1:]]
        self.assertEqual([event["id"] for event in rest], [event["id"] for event in whole[1:]])

    def test_previews(self) -> None:
        session = self.session()
        with self.tandem.stream("sessions.events.stream", session_id=session, event_deltas=["agent.message"]) as stream:
            message = {"type": "user.message", "content": [{"type": "text", "text": "Hello."}]}
            self.tandem.call("sessions.events.send", session_id=session, events=[message])
            types = []
            for cursor, event in stream:
                types.append((event["type"], cursor is None))
                if event["type"] == "session.status_idle":
                    break
        self.assertIn(("event_delta", True), types)
        self.assertIn(("agent.message", False), types)

    def test_what_is_refused(self) -> None:
        with self.assertRaises(TandemError) as refused:
            self.tandem.call("sessions.retrieve", session_id="sesn_none")
        self.assertEqual((refused.exception.type, refused.exception.status), ("not_found_error", 404))
        with self.assertRaises(TandemError):
            self.tandem.stream("sessions.events.stream", session_id="sesn_none")
        with self.assertRaisesRegex(TandemError, "agents.list"):
            self.tandem.call("agents.lst")

    def test_names_that_are_none_in_python(self) -> None:
        page = self.tandem.call("sessions.list", {"created_at[gte]": "2020-01-01T00:00:00Z"}, limit=1)
        self.assertIsInstance(page["data"], list)

    def test_several_threads(self) -> None:
        results: List[int] = []

        def ask() -> None:
            for _ in range(20):
                results.append(len(self.tandem.call("agents.list", limit=5)["data"]))

        threads = [threading.Thread(target=ask) for _ in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        self.assertEqual(len(results), 100)

    def test_files(self) -> None:
        file = self.tandem.call("files.upload", filename="a.txt", mime_type="text/plain", content="aGVsbG8=")
        content = self.tandem.call("files.download", file_id=file["id"])
        self.assertEqual((content["filename"], content["content"]), ("a.txt", "aGVsbG8="))


class Ends(unittest.TestCase):
    def test_close_ends_the_process_and_is_final(self) -> None:
        with Tandem.start(COMMAND, cwd=str(PROJECT)) as tandem:
            process = tandem._process
        self.assertEqual(process.returncode, 0)
        with self.assertRaises(TandemError):
            tandem.call("agents.list")
        tandem.close()

    def test_a_tandem_that_dies_is_told_to_all_who_wait(self) -> None:
        with Tandem.start(COMMAND, cwd=str(PROJECT)) as tandem:
            with tandem.stream("feed.stream") as feed:
                self.assertEqual(next(feed).event["type"], "snapshot")
                threading.Timer(0.2, tandem._process.kill).start()
                with self.assertRaisesRegex(TandemError, "has ended"):
                    for _ in feed:
                        pass
            with self.assertRaises(TandemError):
                tandem.call("agents.list")

    @unittest.skipUnless(sys.platform == "linux", "reads /proc")
    def test_a_program_that_is_killed_takes_tandem_along(self) -> None:
        program = "import json, os, sys, time; from tandem_client import Tandem; " + (
            "t = Tandem.start(json.loads(os.environ['TANDEM_COMMAND']), cwd=os.environ['TANDEM_PROJECT']); "
            "print(t._process.pid, flush=True); time.sleep(600)"
        )
        host = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, cwd=pathlib.Path(__file__).parent)
        assert host.stdout is not None
        pid = int(host.stdout.readline())
        host.send_signal(signal.SIGKILL)
        host.wait()
        host.stdout.close()
        deadline = time.monotonic() + 30
        while is_running(pid) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertFalse(is_running(pid))

    def test_a_start_that_fails_says_why(self) -> None:
        with self.assertRaises(TandemError):
            Tandem.start([sys.executable, "-c", "pass"])
        refusal = '{"id":null,"error":{"type":"trust_needed","message":"Trust it first.","status":503}}'
        with self.assertRaisesRegex(TandemError, "Trust it first"):
            Tandem.start([sys.executable, "-c", f"print('{refusal}')"])


def is_running(pid: int) -> bool:
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False
    return state.rpartition(") ")[2][0] != "Z"


if __name__ == "__main__":
    unittest.main()
