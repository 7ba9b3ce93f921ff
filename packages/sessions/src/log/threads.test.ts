import { systemClock, type SessionEvent, type ThreadId } from "@tandem/protocol";
import type { SessionRow } from "@tandem/storage";
import { expect, test } from "vitest";
import { Threads } from "./threads.ts";
import { UsageLedger } from "./usage-ledger.ts";

const PRIMARY = "sthr_primary" as ThreadId;
const SCOUT = "sthr_scout" as ThreadId;
const AT = "2026-01-01T00:00:00.000Z";

const session = {
  id: "sesn_1",
  primaryThread: PRIMARY,
  agent: { model: { id: "claude-sonnet-5-5" }, tools: [], mcp_servers: [], skills: [], multiagent: null },
} as unknown as SessionRow;

const event = (fields: object): SessionEvent => ({ id: "sevt_1", processed_at: AT, ...fields }) as SessionEvent;

test("a subagent's usage is stored although its last request is counted after its thread became idle", () => {
  const threads = new Threads(session, [], systemClock);
  const ledger = new UsageLedger(PRIMARY, systemClock);
  threads.note(null, event({ type: "session.thread_created", session_thread_id: SCOUT, agent_name: "scout" }));
  threads.note(SCOUT, event({ type: "session.thread_status_idle", session_thread_id: SCOUT }));
  expect(threads.changed(ledger)).toMatchObject([{ id: SCOUT, status: "idle", usage: null }]);
  const end = {
    type: "span.model_request_end" as const,
    model_usage: { input_tokens: 5, output_tokens: 7, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 },
    tandem: { model: "claude-sonnet-5-5", message_id: "msg_1" },
  };
  ledger.add(SCOUT, end);
  threads.note(SCOUT, event(end));
  expect(threads.changed(ledger)).toMatchObject([{ id: SCOUT, status: "idle", usage: { output_tokens: 7 } }]);
});
