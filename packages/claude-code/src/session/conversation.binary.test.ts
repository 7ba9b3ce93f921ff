import { readFile, rm } from "node:fs/promises";
import { getPriority } from "node:os";
import { join } from "node:path";
import { LlmError, type EventId, type ToolResultContent } from "@tandem/protocol";
import { always, madeUpLogin, reply, slowly, stallMidStream, text, thinking, toolUse } from "@tandem/rehearsal";
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from "vitest";
import { eventually, runningProcesses, setStage } from "../testing/claude-stage.ts";
import type { ConversationHost, ToolCallRequest } from "./conversation.ts";
import { ENDLESS, endlessIn, hasBegun } from "./testing/endless-command.ts";
import { MemoryTranscripts, openSession, type OpenSession, type Overrides } from "./testing/open-session.ts";

const ASK = { name: "ask", description: "Asks.", type: "custom" as const, input_schema: { type: "object" as const } };

/** Decides about calls and answers them; each test sets its own. */
let host: Partial<ConversationHost>;

const folder = (): string => join(stage.home, "project");
const open = (more: Overrides = {}): OpenSession =>
  openSession(stage, {
    customTools: [ASK],
    yields: true,
    transcripts,
    ...more,
    host: {
      decide: (request) => host.decide?.(request) ?? { permission: "allow" },
      confirm: async (request) => host.confirm?.(request) ?? { allow: false, message: "Nobody is here." },
      callCustomTool: async (request) => host.callCustomTool?.(request) ?? { content: [], isError: true },
    },
  });
const resume = (more: Overrides = {}): void => {
  const { continuation: _before, ...setup } = session.setup;
  session = open({ ...setup, resume: true, ...more });
};
/** On a busy machine Claude Code may react to an interrupt too late, and is killed. */
const revive = (): void => {
  if (session.conversation.ended) resume();
};

const stage = await setStage();
let transcripts = new MemoryTranscripts();
/** One conversation for all tests. A test that ends its process resumes it in the next one. */
let session = open();
afterAll(async () => {
  await session.conversation.close();
  await stage[Symbol.asyncDispose]();
});
beforeEach(async () => {
  host = {};
  revive();
  session.forget();
  await rm(join(folder(), "begun"), { force: true });
});

test("a turn emits thinking, text, a tool call and its result, in order", async () => {
  stage.rehearsal.use([
    reply([thinking("hm"), text("I look."), toolUse("Bash", { command: "echo hi" })]),
    text("All done."),
  ]);
  await session.conversation.ready;
  expect(await session.turn("Go.")).toMatchObject({
    stop: "end_turn",
    reported: { "claude-sonnet-5-5": { input_tokens: 20 } },
  });
  const types = session.outputs.flatMap((output) => (output.type === "event" ? [output.event.type] : []));
  expect(types).toEqual([
    "tandem.init",
    "span.model_request_start",
    "agent.thinking",
    "tandem.thinking",
    "agent.message",
    "agent.tool_use",
    "span.model_request_end",
    "agent.tool_result",
    "span.model_request_start",
    "agent.message",
    "span.model_request_end",
  ]);
  expect(session.events("agent.tool_result")[0]).toMatchObject({
    tool_use_id: session.events("agent.tool_use")[0]!.id,
    content: [{ type: "text", text: "hi" }],
  });
  await session.conversation.flush();
});

test("two turns run in one process", async () => {
  stage.rehearsal.use([text("one"), text("two")]);
  await session.turn("first");
  const { pid } = session.conversation;
  expect(await session.turn("second")).toMatchObject({
    stop: "end_turn",
    reported: { "claude-sonnet-5-5": { input_tokens: 10 } },
  });
  expect(session.conversation.pid).toBe(pid);
  expect(getPriority(pid), "the host has priority over its child").toBeGreaterThan(getPriority());
  expect(JSON.stringify(stage.rehearsal.modelRequests[1]!.messages)).toContain("first");
});

test("flush reports an unstored transcript, which is kept and retried", async () => {
  stage.rehearsal.use([text("one")]);
  transcripts.broken = true;
  await session.turn("Unstored.");
  await expect(session.conversation.flush()).rejects.toThrow("the database is gone");
  transcripts.broken = false;
  await session.conversation.flush();
  const stored = transcripts.lines.get("")!;
  expect(stored.map(({ type }) => type)).toEqual(expect.arrayContaining(["user", "assistant"]));
  expect(JSON.stringify(stored)).toContain("Unstored.");
});

describe("an interrupt", () => {
  test("in mid-answer keeps the text, closes the span, and the next turn works", async () => {
    stage.rehearsal.use([stallMidStream("It begins"), text("well again")]);
    session.say("Go.");
    await session.until((output) => output.type === "delta" && output.delta.type === "event_delta");
    await session.conversation.interrupt();
    expect(await session.ended()).toMatchObject({ stop: "interrupted" });
    expect(session.events("agent.message")).toMatchObject([
      { content: [{ text: expect.stringMatching(/^It/) }], tandem: { interrupted: "interrupt" } },
    ]);
    expect(session.events("span.model_request_end")).toMatchObject([{ is_error: true }]);
    revive();
    expect(await session.turn("Again.")).toMatchObject({ stop: "end_turn" });
  });

  test("during a tool closes its call as interrupted", async () => {
    stage.rehearsal.use([toolUse("Bash", { command: ENDLESS })]);
    session.say("Go.");
    await hasBegun(folder());
    await session.conversation.interrupt();
    expect(await session.ended()).toMatchObject({ stop: "interrupted" });
    expect(session.events("agent.tool_result")).toMatchObject([
      { is_error: true, tandem: { interrupted: "interrupt" } },
    ]);
  });

  test("of a suspended process takes less than 5 s", async () => {
    stage.rehearsal.use([toolUse("Bash", { command: ENDLESS })]);
    session.say("Go.");
    await hasBegun(folder());
    process.kill(session.conversation.pid!, "SIGSTOP");
    const asked = performance.now();
    await session.conversation.interrupt();
    expect(performance.now() - asked).toBeLessThan(5_000 * inject("slowness"));
    expect(await session.ended()).toMatchObject({ stop: "interrupted" });
    expect(session.events("agent.tool_result")).toMatchObject([{ tandem: { interrupted: "interrupt" } }]);
    expect(endlessIn(folder())).toEqual([]);
    resume();
  });

  test("during an approval aborts the pending request", async () => {
    stage.rehearsal.use([toolUse("Bash", { command: "echo hi" })]);
    const asked = Promise.withResolvers<ToolCallRequest>();
    host = {
      decide: () => ({ permission: "ask" }),
      confirm: async (request) => {
        asked.resolve(request);
        return new Promise(() => {});
      },
    };
    session.say("Go.");
    const { signal } = await asked.promise;
    await session.conversation.interrupt();
    expect(await session.ended()).toMatchObject({ stop: "interrupted" });
    expect(signal.aborted).toBe(true);
    expect(session.events("agent.tool_result")).toHaveLength(1);
  });

  test("right after the first message of a turn", async () => {
    // The model request may or may not have been sent before the interrupt; it has not been answered.
    const never = slowly(text("never"), { firstByteMs: 20_000 });
    stage.rehearsal.use(({ lastUserText }) => (lastUserText.endsWith("Once more.") ? never : text("fine")));
    session.say("Once more.");
    await session.conversation.interrupt();
    expect(await session.ended()).toMatchObject({ stop: "interrupted" });
    revive();
    expect(await session.turn("And again.")).toMatchObject({ stop: "end_turn" });
  });

  test("without a turn does nothing", async () => {
    stage.rehearsal.use([text("fine")]);
    await session.conversation.interrupt();
    expect(await session.turn("Go.")).toMatchObject({ stop: "end_turn" });
  });
});

describe("a call that needs approval", () => {
  const asking = (allow: boolean) => {
    const requests: ToolCallRequest[] = [];
    return {
      requests,
      decide: () => ({ permission: "ask" as const, evaluation: { type: "always_ask" as const } }),
      confirm: async (request: ToolCallRequest) => {
        requests.push(request);
        return allow ? { allow: true as const } : { allow: false as const, message: "Not on my machine." };
      },
    };
  };

  test("runs when it is allowed", async () => {
    stage.rehearsal.use([toolUse("Bash", { command: "echo yes" }), text("done")]);
    const allowing = asking(true);
    host = allowing;
    await session.turn("Go.");
    const [use] = session.events("agent.tool_use");
    expect(use).toMatchObject({ evaluated_permission: "ask", evaluation: { type: "always_ask" } });
    expect(allowing.requests).toMatchObject([
      { eventId: use!.id as EventId, name: "Bash", input: { command: "echo yes" } },
    ]);
    expect(session.events("agent.tool_result")[0]!.content).toEqual([{ type: "text", text: "yes" }]);
  });

  test("does not run when it is denied, and the model sees the reason", async () => {
    const trace = join(stage.home, "trace");
    stage.rehearsal.use([toolUse("Bash", { command: `touch '${trace}'` }), text("done")]);
    host = asking(false);
    await session.turn("Go.");
    expect(session.events("agent.tool_result")[0]).toMatchObject({ is_error: true });
    expect(stage.rehearsal.modelRequests[1]!.toolResults.at(-1)!.text).toContain("Not on my machine.");
    await expect(readFile(trace)).rejects.toThrow("ENOENT");
  });

  test.each(["decide", "confirm"] as const)("does not run when %s throws", async (where) => {
    const trace = join(stage.home, "trace");
    stage.rehearsal.use([toolUse("Bash", { command: `touch '${trace}'` }), text("done")]);
    const fail = (): never => {
      throw new Error("broken");
    };
    const decide = () => (where === "decide" ? fail() : ({ permission: "ask" } as const));
    host = { decide, confirm: async () => fail() };
    expect(await session.turn("Go.")).toMatchObject({ stop: "end_turn" });
    expect(session.events("agent.tool_result")[0]).toMatchObject({ is_error: true });
    await expect(readFile(trace)).rejects.toThrow("ENOENT");
  });
});

test("a custom tool is called with its event's id, and its answer reaches the model", async () => {
  stage.rehearsal.use([toolUse("mcp__tandem__ask", { question: "six by seven?" }), text("done")]);
  const requests: ToolCallRequest[] = [];
  host = {
    callCustomTool: async (request) => {
      requests.push(request);
      return { content: [{ type: "text", text: "forty-two" }], isError: false };
    },
  };
  await session.turn("Go.");
  const [use] = session.events("agent.custom_tool_use");
  expect(use).toMatchObject({ name: "ask", input: { question: "six by seven?" } });
  expect(requests).toMatchObject([
    { eventId: use!.id, name: "ask", input: { question: "six by seven?" }, thread: null },
  ]);
  expect(stage.rehearsal.modelRequests[1]!.toolResults.at(-1)).toMatchObject({ text: "forty-two", isError: false });
});

describe("resume", () => {
  beforeAll(async () => {
    await session.conversation.close();
    transcripts = new MemoryTranscripts();
    session = open();
  });

  const remembered = (): string => JSON.stringify(stage.rehearsal.modelRequests.at(-1)!.messages);
  /** Calls that wait for their answer until the process is gone. */
  const waiting = (): Promise<ToolCallRequest> => {
    const asked = Promise.withResolvers<ToolCallRequest>();
    host = {
      callCustomTool: (request) => {
        asked.resolve(request);
        return new Promise(() => {});
      },
    };
    return asked.promise;
  };

  test("in the same home, with continued usage totals", async () => {
    stage.rehearsal.use([text("PELICAN"), text("again")]);
    await session.turn("Say a word.");
    await session.conversation.close();
    expect(await runningProcesses(stage), "its process has ended").toEqual([]);
    resume();
    expect(await session.turn("Which?")).toMatchObject({
      stop: "end_turn",
      reported: { "claude-sonnet-5-5": { input_tokens: 10 } },
    });
    expect(remembered()).toContain("PELICAN");
    expect(session.events("tandem.init")[0]!.claude_session_id).toBe(session.setup.id);
  });

  test("without output that was never stored", async () => {
    stage.rehearsal.use([text("STORK"), text("HERON"), text("again")]);
    await session.turn("Say a word.");
    await session.conversation.flush();
    // Simulates a dead server: the process continues for a while and writes only to its own file.
    transcripts.broken = true;
    await session.turn("Say another.");
    await session.conversation.close();
    transcripts.broken = false;
    resume();
    await session.turn("Which?");
    expect(remembered()).toContain("STORK");
    expect(remembered()).not.toContain("HERON");
  });

  test("of a turn abandoned while it waits, with the answer", async () => {
    stage.rehearsal.use([
      toolUse("mcp__tandem__ask", {}),
      always((request) => text(`Heard: ${request.toolResults.at(-1)?.text}`)),
    ]);
    const asked = waiting();
    session.say("Go.");
    const { toolUseId, signal } = await asked;
    await session.conversation.close("left");
    expect(signal.aborted).toBe(true);
    expect(session.outputs.at(-1)).toEqual({ type: "closed", error: undefined });
    expect(
      session.outputs.map(({ type }) => type),
      "nothing is closed that is to stay open",
    ).not.toContain("turn_ended");
    const content = [{ type: "text" as const, text: "forty-two" }];
    resume({ continuation: { results: [{ toolUseId, content, isError: false, inWords: [] }] } });
    expect(await session.ended()).toMatchObject({ stop: "end_turn" });
    expect(session.events("agent.message")[0]!.content).toEqual([{ type: "text", text: "Heard: forty-two" }]);
  });

  test("of a turn that ended unnoticed does not continue it, and tells its last answer", async () => {
    stage.rehearsal.use([text("Done."), text("Next.")]);
    await session.turn("Go.");
    await session.conversation.close();
    const [ended] = session.events("span.model_request_end");
    resume({ continuation: { results: [], logged: { texts: new Map(), counted: new Set() } } });
    expect(await session.ended()).toEqual({ stop: "end_turn", stopDetails: null, reported: {} });
    expect(session.events("agent.message").map(({ content }) => content)).toEqual([[{ type: "text", text: "Done." }]]);
    const { model_usage, tandem } = ended!;
    expect(session.events("span.model_request_end")[0]).toMatchObject({ model_usage, tandem });
    expect(stage.rehearsal.modelRequests).toHaveLength(1);
    await session.conversation.flush();
    expect(await session.turn("Next?")).toMatchObject({ stop: "end_turn" });
  });

  test("from the store alone, in another home with an expired token, which is refreshed there", async () => {
    stage.rehearsal.use([text("FLAMINGO"), text("again")]);
    await session.turn("Say a word.");
    await session.conversation.close();
    const home = join(stage.home, "other");
    const configDir = join(home, ".claude");
    const { accessToken } = await madeUpLogin(configDir, { expiresAt: new Date(Date.now() - 60_000) });
    resume({
      credential: { type: "login", configDir },
      hostVariables: { ...stage.hostVariables, HOME: home },
    });
    expect(await session.turn("Which?")).toMatchObject({ stop: "end_turn" });
    expect(remembered()).toContain("FLAMINGO");
    const stored = await readFile(join(configDir, ".credentials.json"), "utf8");
    expect(stored, "a new token, and still one to renew it with").not.toContain(accessToken);
    expect(stored).toMatch(/"refreshToken":"sk-ant-ort01/);
  });

  test("with the result of a custom tool that arrived after the process was killed", async () => {
    stage.rehearsal.use([
      reply([text("I ask."), toolUse("mcp__tandem__ask", { n: 1 }), toolUse("Bash", { command: ENDLESS })]),
      always((request) => text(JSON.stringify(request.toolResults))),
    ]);
    const asked = waiting();
    session.say("Go.");
    const { toolUseId } = await asked;
    await session.until((output) => output.type === "event" && output.event.type === "span.model_request_end");
    await eventually(
      async () => JSON.stringify(transcripts.lines.get("")!.slice(-10)),
      (lines) => lines.includes(toolUseId) && lines.includes("tail -f"),
    );
    process.kill(session.conversation.pid!, "SIGKILL");
    expect((await session.closed()).error).toMatchObject({ code: "process_died" });
    const content: ToolResultContent[] = [{ type: "text", text: "forty-two" }];
    resume({ continuation: { results: [{ toolUseId, content, isError: false, inWords: [] }] } });
    expect(await session.ended()).toMatchObject({ stop: "end_turn" });
    const results = stage.rehearsal.modelRequests.at(-1)!.toolResults;
    expect(results.slice(-2)).toMatchObject([
      { toolUseId, text: "forty-two", isError: false },
      { text: expect.stringContaining("not known"), isError: true },
    ]);
  });
});

test("a killed process ends the turn when its commands are dead, then reports the reason", async () => {
  stage.rehearsal.use([toolUse("Bash", { command: ENDLESS })]);
  session.say("Go.");
  await hasBegun(folder());
  await expect.poll(() => endlessIn(folder())).toHaveLength(2);
  process.kill(session.conversation.pid!, "SIGKILL");
  expect(await session.ended()).toMatchObject({ stop: "error", error: { tandem: { code: "process_died" } } });
  expect(endlessIn(folder()), "the turn ends after its commands are dead").toEqual([]);
  const { error } = await session.closed();
  expect(error).toBeInstanceOf(LlmError);
  expect(error?.message).toContain("SIGKILL");
});
