import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { always, reply, text, toolUse, when, type ModelRequest } from "@tandem/rehearsal";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { eventually, setStage } from "../testing/claude-stage.ts";
import type { ConversationOutput, ToolCallRequest } from "./conversation.ts";
import { openSession } from "./testing/open-session.ts";

const stage = await setStage();
/** One conversation for all tests without subagents. */
const session = openSession(stage);
afterAll(async () => {
  await session.conversation.close();
  await stage[Symbol.asyncDispose]();
});
beforeEach(() => session.forget());

const isEvent = (type: string) => (output: ConversationOutput) => output.type === "event" && output.event.type === type;
const words = (request: ModelRequest): string => JSON.stringify(request.messages);

/** Starts a turn that waits in a tool until released. */
async function inATool(name: string): Promise<() => void> {
  session.say("Go.");
  await session.until(isEvent("span.model_request_end"));
  return () => writeFileSync(join(session.setup.folder, name), "");
}
const waitFor = (name: string) => toolUse("Bash", { command: `until test -e ${name}; do sleep 0.05; done` });

describe("a message to a running turn", () => {
  test("reaches the model with the next tool result, within the turn", async () => {
    stage.rehearsal.use([waitFor("a"), text("Left, then.")]);
    const letGo = await inATool("a");
    const uuid = session.say("Turn left!");
    letGo();
    expect(await session.until(({ type }) => type === "message_taken")).toMatchObject({ uuid });
    expect(await session.ended()).toMatchObject({ stop: "end_turn" });
    expect(words(stage.rehearsal.modelRequests[1]!)).toContain("Turn left!");
  });

  test("can be taken back until the model has it", async () => {
    stage.rehearsal.use([waitFor("b"), always(text("Done."))]);
    const letGo = await inATool("b");
    const uuid = session.say("Turn right!");
    expect(await session.conversation.takeBack(uuid)).toBe(true);
    expect(await session.conversation.takeBack(uuid), "only once").toBe(false);
    letGo();
    await session.ended();
    const taken = session.say("And now?");
    await session.ended();
    expect(await session.conversation.takeBack(taken), "too late").toBe(false);
    expect(stage.rehearsal.modelRequests.map(words).join()).not.toContain("Turn right!");
  });

  test("is sent verbatim, even if it looks like a command or names a file", async () => {
    stage.rehearsal.use([text("As you say.")]);
    writeFileSync(join(session.setup.folder, "secret.txt"), "the word is PELICAN");
    expect(await session.turn("/clear @secret.txt")).toMatchObject({ stop: "end_turn" });
    expect(stage.rehearsal.modelRequests[0]!.lastUserText).toBe("/clear @secret.txt");
    expect(words(stage.rehearsal.modelRequests[0]!)).not.toContain("PELICAN");
  });
});

describe("work beside the turn", () => {
  const REVIEWER = { name: "reviewer", description: "Reviews.", system: "SUBAGENT", tools: ["Bash"] };
  const isSub = (request: ModelRequest): boolean => request.system.includes("SUBAGENT");

  test("a subagent's call asks on its own thread, and the subagent resumes there in a later process", async () => {
    stage.rehearsal.use([
      when(isSub, toolUse("Bash", { command: "echo reviewed" })),
      when(isSub, text("Good.")),
      toolUse("Agent", { description: "d", prompt: "Review.", subagent_type: "reviewer", run_in_background: false }),
      text("They say good."),
    ]);
    const requests: ToolCallRequest[] = [];
    const first = openSession(stage, {
      tools: ["Agent", "SendMessage", "Bash"],
      subagents: [REVIEWER],
      host: {
        decide: ({ name }) => ({ permission: name === "Bash" ? "ask" : "allow" }),
        confirm: async (request) => {
          requests.push(request);
          return { allow: true };
        },
      },
    });
    expect(await first.turn("Go.")).toMatchObject({ stop: "end_turn" });
    await first.conversation.close();
    const [created] = first.events("session.thread_created");
    expect(requests).toMatchObject([{ name: "Bash", thread: created!.session_thread_id }]);
    expect(first.events("agent.tool_result").map(({ content }) => content)).toContainEqual([
      { type: "text", text: "reviewed" },
    ]);

    const sendAgain = (request: ModelRequest) =>
      toolUse("SendMessage", {
        to: /agentId: ?(\w+)/.exec(words(request))?.[1],
        summary: "again",
        message: "Look again.",
      });
    stage.rehearsal.use([when(isSub, text("Still good.")), when(() => true, sendAgain), always(text("Thanks."))]);
    await using second = openSession(stage, { ...first.setup, transcripts: first.transcripts, resume: true });
    await second.turn("Ask again.");
    await eventually(
      () => second.events("session.thread_status_idle"),
      (idle) => idle.length === 1,
    );
    expect(second.events("session.thread_created"), "it is there already").toEqual([]);
    expect(second.events("session.thread_status_running")).toMatchObject([
      { session_thread_id: created!.session_thread_id, agent_name: "reviewer" },
    ]);
    expect(second.events("agent.thread_message_received").at(-1)!.content).toEqual([
      { type: "text", text: "Still good." },
    ]);
  });

  test("a background shell is listed, survives an interrupt, and can be stopped", async () => {
    stage.rehearsal.use([
      reply([toolUse("Bash", { command: "tail -f /dev/null", run_in_background: true })]),
      waitFor("never"),
      text("It runs."),
    ]);
    session.say("Go.");
    await session.until((output) => output.type === "background");
    await session.until(isEvent("span.model_request_end"));
    await session.conversation.interrupt();
    expect(await session.ended()).toMatchObject({ stop: "interrupted" });
    const tasks = session.outputs.findLast((output) => output.type === "background")!.tasks;
    expect(tasks).toMatchObject([{ kind: "shell", description: "tail -f /dev/null", status: "running" }]);
    await session.conversation.stopTask(tasks[0]!.id);
    await eventually(
      () => session.outputs.findLast((output) => output.type === "background")!.tasks,
      (left) => left.length === 0,
    );
  });
});
