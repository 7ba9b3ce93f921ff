import { rm } from "node:fs/promises";
import { join } from "node:path";
import { always, slowly, text } from "@tandem/rehearsal";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually, setStage, type Stage } from "../testing/claude-stage.ts";
import type { LateResult } from "./conversation.ts";
import { MemoryTranscripts, openSession, type OpenSession } from "./testing/open-session.ts";
import type { TranscriptLine } from "./transcript/transcript-line.ts";

const ORDER = "Count the herons.";
/** The result of a call that the transcript has lost. */
const LOST: LateResult = {
  toolUseId: "toolu_lost",
  content: [],
  isError: true,
  inWords: [{ type: "text", text: "You called lookup, which did not run." }],
};

let stage: Stage;
let session: OpenSession;
/** The transcript of a turn whose second process died in its first request, too. */
let lines: TranscriptLine[];

const isContinuation = ({ type, isMeta }: TranscriptLine): boolean => type === "user" && isMeta === true;

/** Kills the process when the transcript has a line after a line of this kind. */
async function killAfter(
  next: OpenSession,
  transcripts: MemoryTranscripts,
  fits: (line: TranscriptLine) => boolean,
): Promise<void> {
  await eventually(
    async () => transcripts.lines.get("") ?? [],
    (stored) => {
      const uuid = stored.find(fits)?.["uuid"];
      return uuid !== undefined && stored.some(({ parentUuid }) => parentUuid === uuid);
    },
  );
  process.kill(next.conversation.pid!, "SIGKILL");
  await next.closed();
}

beforeAll(async () => {
  stage = await setStage([always(() => slowly(text("One word follows another."), { tokenMs: 60_000 }))]);
  const transcripts = new MemoryTranscripts();
  session = openSession(stage, { transcripts });
  session.say(ORDER);
  await killAfter(session, transcripts, ({ type }) => type === "user");
  const next = openSession(stage, { ...session.setup, transcripts, resume: true, continuation: { results: [] } });
  await killAfter(next, transcripts, isContinuation);
  lines = transcripts.lines.get("")!;
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

/** Continues the turn from these lines, and returns the texts that the model gets. */
async function resumed(stored: readonly TranscriptLine[]): Promise<string[]> {
  await rm(join(stage.configDir, "projects"), { recursive: true, force: true });
  stage.rehearsal.use([always(() => text("Twelve."))]);
  const transcripts = new MemoryTranscripts();
  await transcripts.append("", stored);
  await using next = openSession(stage, {
    ...session.setup,
    transcripts,
    resume: true,
    continuation: { results: [LOST] },
  });
  expect(await next.ended()).toMatchObject({ stop: "end_turn" });
  const { messages } = stage.rehearsal.modelRequests.at(-1)!;
  return messages.flatMap(({ content }) => content.map((block) => String(block["text"]).trim()));
}

test("a turn continues with its message after a process that had only begun to continue it", async () => {
  expect(lines.filter(isContinuation)).toHaveLength(1);
  const told = await resumed(lines);
  expect(told).toEqual(expect.arrayContaining([ORDER, "You called lookup, which did not run."]));
});

test("a turn continues with its message with a missing line before the result of a lost call", async () => {
  const told = await resumed(lines.filter((line) => !isContinuation(line)));
  expect(told).toEqual(expect.arrayContaining([ORDER, "You called lookup, which did not run."]));
});
