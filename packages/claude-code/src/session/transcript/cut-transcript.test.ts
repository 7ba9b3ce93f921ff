import { expect, test } from "vitest";
import { cutTranscript } from "./cut-transcript.ts";

const line = (uuid: string, second: number) => ({
  type: "user",
  uuid,
  sessionId: "old",
  cwd: "/old",
  timestamp: `2026-01-01T00:00:0${second}.000Z`,
});
const note = { type: "last-prompt", sessionId: "old" };
const place = { id: "new", folder: "/new" };
const main = [note, line("a", 1), line("b", 2), note, line("c", 3), line("d", 4)];
const uuids = (lines: readonly Record<string, unknown>[] | undefined) => lines?.map(({ uuid }) => uuid);

test("keeps the part before a message, under a new id and folder", () => {
  const cut = cutTranscript(new Map([["", main]]), ["c", "d"], place).get("");
  expect(uuids(cut)).toEqual([undefined, "a", "b", undefined]);
  expect(cut?.every(({ sessionId }) => sessionId === "new")).toBe(true);
  expect(cut?.[1]).toMatchObject({ cwd: "/new" });
});

test("cuts at the next stored message if the given one never reached the transcript", () => {
  expect(uuids(cutTranscript(new Map([["", main]]), ["lost", "d"], place).get(""))?.at(-1)).toBe("c");
  expect(uuids(cutTranscript(new Map([["", main]]), ["lost"], place).get(""))?.at(-1)).toBe("d");
});

test("leaves nothing before the first message", () => {
  expect(cutTranscript(new Map([["", main]]), ["a", "b", "c", "d"], place).size).toBe(0);
});

test("keeps subagent lines up to that time", () => {
  const early = [{ type: "agent_metadata", agentType: "scout" }, line("x", 1), line("y", 4)];
  const late = [{ type: "agent_metadata", agentType: "scout" }, line("z", 4)];
  const cut = cutTranscript(
    new Map<string, Record<string, unknown>[]>([
      ["", main],
      ["subagents/agent-1", early],
      ["subagents/agent-2", late],
    ]),
    ["c"],
    place,
  );
  expect([...cut.keys()]).toEqual(["", "subagents/agent-1"]);
  expect(uuids(cut.get("subagents/agent-1"))).toEqual([undefined, "x"]);
});
