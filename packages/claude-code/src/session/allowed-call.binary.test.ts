import { existsSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { EventId } from "@tandem/protocol";
import { always, reply, text, toolUse } from "@tandem/rehearsal";
import { afterAll, expect, test } from "vitest";
import { setStage } from "../testing/claude-stage.ts";
import type { AllowedCall, ToolCallRequest } from "./conversation.ts";
import { type OpenSession, openSession } from "./testing/open-session.ts";

const stage = await setStage();
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

const project = (name: string): string => join(stage.home, "project", name);
const effects = async (): Promise<string> =>
  existsSync(project("effects.txt")) ? (await readFile(project("effects.txt"), "utf8")).trim() : "";

/** A conversation that was killed while these commands waited for approval. */
async function killed(...commands: string[]): Promise<{ session: OpenSession; calls: AllowedCall[] }> {
  await rm(project("effects.txt"), { force: true });
  stage.rehearsal.use([
    reply(commands.map((command) => toolUse("Bash", { command }))),
    // It never repeats a call.
    always(({ toolResults, lastUserText }) => text(JSON.stringify({ toolResults, lastUserText }))),
  ]);
  const asked: ToolCallRequest[] = [];
  const session = openSession(stage, {
    host: {
      decide: () => ({ permission: "ask" }),
      confirm: async (request) => {
        asked.push(request);
        return new Promise(() => {});
      },
    },
  });
  session.say("Go.");
  await session.until(({ type }) => type === "event" && asked.length > 0);
  await expect.poll(() => session.events("agent.tool_use")).toHaveLength(commands.length);
  const uses = session.events("agent.tool_use");
  await Promise.all(uses.map(({ tandem }) => session.conversation.kept(tandem.tool_use_id)));
  await session.conversation.close("left");
  const ids = uses.map(({ tandem }) => tandem.tool_use_id);
  const calls = uses.map((use, index) => ({
    eventId: use.id as EventId,
    toolUseId: use.tandem.tool_use_id,
    name: "Bash",
    laterCalls: ids.slice(index + 1),
  }));
  return { session, calls };
}

const resumeWith = ({ setup, transcripts }: OpenSession, run: AllowedCall): OpenSession =>
  openSession(stage, { ...setup, transcripts, resume: true, continuation: { results: [], run } });

test("an allowed call of an earlier process runs once, before any model request", async () => {
  const { session, calls } = await killed("echo ran >> effects.txt; echo out");
  await using next = resumeWith(session, calls[0]!);
  expect(await next.ended()).toMatchObject({ stop: "end_turn" });
  expect(await effects()).toBe("ran");
  expect(next.events("agent.tool_result")).toMatchObject([
    { tool_use_id: calls[0]!.eventId, is_error: false, content: [{ text: "out" }] },
  ]);
  expect(next.events("agent.tool_use", "tandem.unknown", "tandem.notice")).toEqual([]);
  expect(stage.rehearsal.modelRequests).toHaveLength(2);
  expect(stage.rehearsal.modelRequests.at(-1)!.toolResults).toMatchObject([
    { isError: false, text: expect.stringMatching(/^out/) },
  ]);
});

test("several allowed calls run one after another, with the input that a person changed, and one model request", async () => {
  const { session, calls } = await killed(
    "echo one >> effects.txt",
    "echo two >> effects.txt",
    "echo no >> effects.txt",
  );
  for (const call of calls.slice(0, 2)) {
    await using next = resumeWith(session, call);
    await next.conversation.ranCall;
    await next.conversation.close();
    expect(next.events("agent.tool_result")).toMatchObject([{ tool_use_id: call.eventId, is_error: false }]);
    expect(next.events("tandem.unknown", "tandem.notice", "span.model_request_start")).toEqual([]);
  }
  expect(stage.rehearsal.modelRequests).toHaveLength(1);
  const changedTo = { command: "echo three >> effects.txt; echo changed" };
  await using last = resumeWith(session, { ...calls[2]!, changedTo, notes: ["The user changed the input."] });
  expect(await last.ended()).toMatchObject({ stop: "end_turn" });
  expect(await effects()).toBe("one\ntwo\nthree");
  expect(stage.rehearsal.modelRequests).toHaveLength(2);
  const { toolResults, lastUserText } = stage.rehearsal.modelRequests.at(-1)!;
  expect(toolResults).toHaveLength(3);
  expect(lastUserText).toContain("The user changed the input");
});

test("a call that was cut off is not run again by the next message", async () => {
  const { session, calls } = await killed("echo begun >> effects.txt; tail -f /dev/null");
  const next = resumeWith(session, calls[0]!);
  await expect.poll(effects).toBe("begun");
  await next.conversation.close("lost");
  await using later = openSession(stage, { ...session.setup, transcripts: session.transcripts, resume: true });
  expect(await later.turn("And now?")).toMatchObject({ stop: "end_turn" });
  expect(await effects()).toBe("begun");
  expect(
    stage.rehearsal.modelRequests
      .at(-1)!
      .messages.map((message) => JSON.stringify(message))
      .join(),
  ).toContain("its outcome is not known");
});
