import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Anthropic from "@anthropic-ai/sdk";
import { expect, test } from "vitest";
import {
  checkRecording,
  overloaded,
  redactedThinking,
  refusal,
  reply,
  startRecording,
  startRehearsal,
  text,
  thinking,
  toolUse,
} from "../index.ts";

const folder = import.meta.dirname;

test("the rehearsal answers with the SDK's types, and the check names the damaged exchanges of a recording", async () => {
  const scratch = await mkdtemp(join(tmpdir(), "check-recording-"));
  try {
    const file = join(scratch, "run.jsonl");
    await recordEveryReply(file);

    const good = await checkRecording(file, folder);
    expect(good.mismatches).toEqual([]);
    expect(good.checked).toBe(10);

    const lines = (await readFile(file, "utf8")).split("\n");
    const broken = lines.map((line) =>
      line.includes('"number":1,')
        ? line.replace(String.raw`\"stop_reason\":\"end_turn\"`, String.raw`\"stop_reason\":\"done\"`)
        : line.replace('"max_tokens":77', '"max_tokens":"77"'),
    );
    const other = join(scratch, "broken.jsonl");
    await writeFile(other, broken.join("\n"));
    const { mismatches } = await checkRecording(other, folder);
    expect(mismatches.map(({ exchange, part }) => [exchange, part])).toEqual([
      [1, "response"],
      [10, "request"],
    ]);
    expect(mismatches[0]?.problem).toContain('"done"');

    await expect(checkRecording(file, scratch)).rejects.toMatchObject({
      code: "check_impossible",
      message: `typescript is not installed for ${scratch}.`,
    });
  } finally {
    await rm(scratch, { recursive: true });
  }
});

/** Each kind of reply, whole and streamed, by the plain API and the beta API. */
async function recordEveryReply(file: string): Promise<void> {
  const everything = () => reply([thinking("Hm."), redactedThinking("xyz"), text("A."), toolUse("look", { at: 1 })]);
  await using upstream = await startRehearsal([
    text("Hello."),
    everything(),
    refusal("No."),
    overloaded(),
    text("Hello."),
    everything(),
    refusal("No."),
    text("Hello."),
    everything(),
    text("End."),
  ]);
  await using recording = await startRecording({ upstream: upstream.url, file });
  const { messages, beta } = new Anthropic({ baseURL: recording.url, apiKey: "made-up", maxRetries: 0 });
  const request = { model: "claude-sonnet-5-5", max_tokens: 50, messages: [{ role: "user" as const, content: "Hi" }] };
  for (let count = 0; count < 3; count += 1) await messages.create(request);
  await expect(messages.create(request)).rejects.toThrow("Overloaded");
  for (let count = 0; count < 3; count += 1) await messages.stream(request).finalMessage();
  await beta.messages.create(request);
  await beta.messages.stream(request).finalMessage();
  await beta.messages.create({ ...request, max_tokens: 77 });
}
