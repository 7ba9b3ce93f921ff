import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { always, rateLimited, stallBeforeFirstByte, stallMidStream, text, toolUse } from "@tandem/rehearsal";
import { afterAll, expect, inject, test } from "vitest";
import { runningProcesses, setStage } from "../testing/claude-stage.ts";
import { openSession } from "./testing/open-session.ts";

const stage = await setStage();
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

const timeout = (phase: string) => ({
  stop: "error",
  error: { message: expect.stringContaining(phase), tandem: { code: "timeout" } },
});

test.each([
  ["that gives no sign", stallBeforeFirstByte(), "firstByte"],
  ["that stops in the middle", stallMidStream("It begins"), "idle"],
] as const)("a model %s ends the turn and its process", async (_, answer, phase) => {
  stage.rehearsal.use([always(answer)]);
  const lateMs = 1_000 * inject("slowness");
  const session = openSession(stage, { deadlines: phase === "idle" ? { idle: lateMs } : { firstByte: lateMs } });
  session.say("Go.");
  expect(await session.ended()).toMatchObject(timeout(phase));
  expect((await session.closed()).error).toMatchObject({ code: "timeout" });
  expect(session.events("span.model_request_end")).toMatchObject([{ is_error: true }]);
  expect(await runningProcesses(stage)).toEqual([]);
});

test("a tool, a person and a custom tool may take longer than the model's deadlines", async () => {
  const toolMs = 2_000 * inject("slowness");
  stage.rehearsal.use([
    toolUse("Bash", { command: `for i in $(seq ${toolMs / 100}); do sleep 0.1; done; echo slept` }),
    toolUse("Write", { file_path: "x", content: "x" }),
    toolUse("mcp__tandem__ask", {}),
    text("Done."),
  ]);
  const later = <T>(value: T): Promise<T> => new Promise((resolve) => setTimeout(resolve, toolMs, value));
  await using session = openSession(stage, {
    deadlines: { idle: 0.75 * toolMs },
    customTools: [{ type: "custom", name: "ask", description: "Asks.", input_schema: { type: "object" } }],
    host: {
      decide: ({ name }) => ({ permission: name === "Write" ? "ask" : "allow" }),
      confirm: () => later({ allow: true }),
      callCustomTool: () => later({ content: [{ type: "text", text: "fine" }], isError: false }),
    },
  });
  expect(await session.turn("Go.")).toMatchObject({ stop: "end_turn" });
});

test("waiting for a retry counts as activity", async () => {
  // Claude Code retries after the time that the answer names.
  const retryAfterSeconds = 5 * Math.ceil(inject("slowness"));
  stage.rehearsal.use([rateLimited({ retryAfterSeconds }), text("At last.")]);
  const lateMs = retryAfterSeconds * 500;
  await using session = openSession(stage, {
    credential: stage.apiKey,
    deadlines: { firstByte: lateMs, idle: lateMs },
  });
  expect(await session.turn("Go.")).toMatchObject({ stop: "end_turn" });
  expect(session.events("tandem.retry")).toMatchObject([{ delay_ms: expect.any(Number) }]);
  expect(session.events("tandem.retry")[0]!.delay_ms).toBeGreaterThan(lateMs);
});

test("a failed start rejects ready and reports closed", async () => {
  const session = openSession(stage, { executable: join(stage.home, "no-such-binary") });
  await expect(session.conversation.ready).rejects.toMatchObject({ code: "process_died" });
  expect((await session.closed()).error).toMatchObject({ code: "process_died" });
  await session.conversation.close();
});

test("a process that is not ready in time is killed", async () => {
  const silent = join(stage.home, "silent");
  await writeFile(silent, "#!/bin/sh\nexec tail -f /dev/null\n", { mode: 0o700 });
  const session = openSession(stage, { executable: silent, deadlines: { spawn: 300, init: 300 } });
  await expect(session.conversation.ready).rejects.toMatchObject({ code: "timeout" });
  expect((await session.closed()).error).toMatchObject({ code: "timeout" });
  expect(await runningProcesses(stage)).toEqual([]);
});

test("a missing folder is an error, not a hang", async () => {
  const session = openSession(stage, { folder: join(stage.home, "gone", "away") });
  session.say("Go.");
  expect((await session.closed()).error).toMatchObject({ code: "process_died" });
});

test("a missing login ends the turn with a fix, without a request", async () => {
  stage.rehearsal.use([always(text("paid by a stray key"))]);
  await using session = openSession(stage, { credential: { type: "login", configDir: join(stage.home, "nobody") } });
  expect(await session.turn("Go.")).toMatchObject({ stop: "error", error: { tandem: { code: "not_logged_in" } } });
  expect(stage.rehearsal.modelRequests).toEqual([]);
});
