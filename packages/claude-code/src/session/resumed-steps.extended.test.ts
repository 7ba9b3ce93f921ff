import { rm } from "node:fs/promises";
import { join } from "node:path";
import { always, text, toolUse } from "@tandem/rehearsal";
import { afterAll, beforeAll, expect, test } from "vitest";
import { setStage, type Stage } from "../testing/claude-stage.ts";
import type { LateResult } from "./conversation.ts";
import { MemoryTranscripts, openSession, type OpenSession } from "./testing/open-session.ts";
import type { TranscriptLine } from "./transcript/transcript-line.ts";

const ORDER = "Count the herons.";
const LOOKUP = {
  name: "lookup",
  description: "Looks up.",
  type: "custom" as const,
  input_schema: { type: "object" as const },
};
/** The result of a call that the transcript has lost. */
const LOST: LateResult = {
  toolUseId: "toolu_lost",
  content: [],
  isError: true,
  inWords: [{ type: "text", text: "You called lookup, which did not run." }],
};

let stage: Stage;
let session: OpenSession;
/** The transcript of a whole turn with a call. */
let lines: TranscriptLine[];
beforeAll(async () => {
  stage = await setStage([toolUse("mcp__tandem__lookup", {}), text("Twelve.")]);
  const transcripts = new MemoryTranscripts();
  session = openSession(stage, { transcripts, customTools: [LOOKUP] });
  await session.turn(ORDER);
  await session.conversation.close();
  lines = transcripts.lines.get("")!;
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

/** Continues the turn from these lines in a new process. Returns the texts of its first request; undefined without one. */
async function resumed(stored: readonly TranscriptLine[], late: LateResult[]): Promise<string[] | undefined> {
  await rm(join(stage.configDir, "projects"), { recursive: true, force: true });
  stage.rehearsal.use([always(() => text("Twelve."))]);
  const transcripts = new MemoryTranscripts();
  await transcripts.append("", stored);
  await using next = openSession(stage, {
    ...session.setup,
    transcripts,
    resume: true,
    continuation: { results: late },
  });
  expect(await next.ended()).toMatchObject({ stop: "end_turn" });
  const blocks = stage.rehearsal.modelRequests[0]?.messages.flatMap(({ content }) => content);
  const calls = blocks?.flatMap(({ type, id }) => (type === "tool_use" ? [id] : []));
  const results = blocks?.flatMap((block) => (block.type === "tool_result" ? [block["tool_use_id"]] : []));
  expect(results, "the API refuses a call without a result, and a result without its call").toEqual(calls);
  return blocks?.map((block) => String(block["text"]).trim());
}

/** The places of the lines that Claude Code links to each other, after the user's message. */
const places = (): number[] => {
  const first = lines.findIndex(({ type }) => type === "user");
  return lines.flatMap(({ uuid }, index) => (uuid !== undefined && index > first ? [index] : []));
};

test("a turn that was killed after any line continues with its message", async () => {
  expect(places().length).toBeGreaterThan(5);
  for (const place of places()) {
    const told = await resumed(lines.slice(0, place), []);
    if (told) expect(told, `killed before line ${place}`).toContain(ORDER);
    else expect(JSON.stringify(lines.slice(0, place)), "it had its answer").toContain("Twelve.");
  }
});

test("a turn that lacks any line continues with its message and with the result of a lost call", async () => {
  for (const place of places()) {
    const told = await resumed(lines.toSpliced(place, 1), [LOST]);
    expect(told, `without line ${place}`).toEqual(
      expect.arrayContaining([ORDER, "You called lookup, which did not run."]),
    );
  }
});
