import { once } from "node:events";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { ChildProcess } from "node:child_process";
import type { LoggedEvent } from "@tandem/protocol";
import { always, reply, slowly, text, toolUse } from "@tandem/rehearsal";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ALLOW_ALL, isIdle, setEngineStage, textsOf, the, typesOf, type EngineStage } from "../testing/engine-stage.ts";
import { judgeSession } from "../testing/judge-session.ts";

// Engines crash and stall here, so each test has its own stage.
let stage: EngineStage;
beforeEach(async () => {
  stage = await setEngineStage();
});
afterEach(() => stage[Symbol.asyncDispose]());

const isType = (type: string) => (logged: LoggedEvent) => logged.event.type === type;
const inProject = (name: string) => join(stage.folder, name);
const killProcesses = async () => {
  for (const pid of await stage.processes()) process.kill(-pid, "SIGKILL");
};
/** Stalls the process while it is not writing: a process suspended in a transaction blocks all others from the file. */
const halt = async (server: ChildProcess): Promise<void> => {
  const isFree = (): boolean => {
    server.kill("SIGSTOP");
    using database = new DatabaseSync(join(stage.root, "tandem.db"), { timeout: 500 });
    try {
      database.exec("begin immediate; rollback");
      return true;
    } catch {
      server.kill("SIGCONT");
      return false;
    }
  };
  await expect.poll(isFree).toBe(true);
};

test("an answer reaches the model after its server was killed while the call waited", async () => {
  stage.rehearsal.use([toolUse("mcp__tandem__weather", { city: "Bern" }), always(text("Nobody answered me."))]);
  const weather = { name: "weather", description: "w", input_schema: { type: "object" as const } };
  const { process: server, session } = await stage.spawn({ tools: [{ type: "custom", ...weather }] }, "Weather?");
  const engine = await stage.open({ leaseTtl: 1_000 });
  const use = the(await engine.until(session, isIdle), "agent.custom_tool_use");
  const left = await stage.processes();
  server.kill("SIGKILL");
  await once(server, "exit");
  // Claude Code continues without its server: it gives the call up, asks the model once more, and exits.
  await expect.poll(() => stage.rehearsal.modelRequests.length).toBe(2);
  await expect.poll(() => left.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]);
  stage.rehearsal.use([text("It rains.")]);
  const head = await engine.engine.sessions.head(session.id);
  await engine.engine.sessions.send(session.id, [
    { type: "user.custom_tool_result", custom_tool_use_id: use.id, content: [{ type: "text", text: "rain" }] },
  ]);
  expect(textsOf(await engine.until(session, isIdle, head))).toEqual(["It rains."]);
  expect(stage.rehearsal.modelRequests.at(-1)!.toolResults).toMatchObject([{ text: "rain", isError: false }]);
  expect(await judgeSession(engine, session)).toEqual([]);
  // Three processes start one after the other, and each wait has its own deadline.
});

test.each([
  ["call", (line: string) => line.includes("tool_use")],
  ["whole turn", () => true],
])("an answer to a %s reaches the model as text if its transcript was lost", async (_, isRefused) => {
  const first = await stage.open({ leaseTtl: 1_000 });
  const append = first.store.transcripts.append.bind(first.store.transcripts);
  let isAway = false;
  first.store.transcripts.append = async (lease, subpath, lines) => {
    // A lost database stays lost: later writes must not be stored either.
    isAway ||= isRefused(JSON.stringify(lines));
    return isAway ? Promise.reject(new Error("away")) : append(lease, subpath, lines);
  };
  stage.rehearsal.use([
    reply([text("Let me see."), toolUse("mcp__tandem__weather", { city: "Bern" })]),
    always(text("It rains.")),
  ]);
  const weather = { name: "weather", description: "w", input_schema: { type: "object" as const } };
  const session = await first.session({}, { tools: [{ type: "custom", ...weather }] });
  await first.say(session, "Weather?");
  const use = the(await first.until(session, isIdle), "agent.custom_tool_use");
  await first.vanish();
  await killProcesses();
  const home = join(stage.root, "another-home");
  const second = await stage.open({ leaseTtl: 1_000, home, stateFolder: join(stage.root, "another-state") });
  const head = await second.engine.sessions.head(session.id);
  await second.engine.sessions.send(session.id, [
    { type: "user.custom_tool_result", custom_tool_use_id: use.id, content: [{ type: "text", text: "rain" }] },
  ]);
  expect(textsOf(await second.until(session, isIdle, head))).toEqual(["It rains."]);
  expect(stage.rehearsal.modelRequests.at(-1)!.lastUserText).toMatch(/weather with {"city":"Bern"}[^]*rain/);
  expect(await judgeSession(second, session)).toEqual([]);
});

test("a running server takes over the session of a killed one, and none of its processes survive", async () => {
  const command = "trap '' TERM HUP INT; while true; do echo tick >> ticks.txt; sleep 0.05; done";
  stage.rehearsal.use([toolUse("Bash", { command })]);
  const { process: server, session } = await stage.spawn(ALLOW_ALL, "Tick.");
  const engine = await stage.open({ leaseTtl: 1_000 });
  await expect.poll(() => existsSync(inProject("ticks.txt"))).toBe(true);
  server.kill("SIGKILL");
  expect(typesOf(await engine.until(session, isIdle))).toContain("tandem.recovered");
  expect(await stage.processes()).toEqual([]);
  const ticks = await readFile(inProject("ticks.txt"), "utf8");
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(await readFile(inProject("ticks.txt"), "utf8")).toBe(ticks);
  expect(await judgeSession(engine, session)).toEqual([]);
});

test("a server that stalled for too long writes nothing, runs nothing, and ends its process", async () => {
  const call = toolUse("Bash", { command: "echo done >> effect.txt" });
  stage.rehearsal.use([slowly(call, { firstByteMs: 1_000 }), always(text("Done."))]);
  const { process: server, session } = await stage.spawn(ALLOW_ALL, "Do it.");
  const engine = await stage.open({ leaseTtl: 1_000 });
  await engine.until(session, isType("span.model_request_start"));
  await halt(server);
  await engine.until(session, isIdle);
  const head = await engine.engine.sessions.head(session.id);
  // The call awaits approval by now, and no answer was given.
  await expect.poll(() => stage.rehearsal.modelRequests.length).toBe(1);
  server.kill("SIGCONT");
  await expect.poll(() => stage.processes()).toEqual([]);
  expect(await engine.engine.sessions.head(session.id)).toBe(head);
  expect(existsSync(inProject("effect.txt"))).toBe(false);
});

test("a call with an unknown outcome is not repeated: the model is told, from the store alone", async () => {
  const first = await stage.open({ leaseTtl: 1_000 });
  stage.rehearsal.use([toolUse("Bash", { command: "echo done >> effect.txt; tail -F waiting.txt" })]);
  const session = await first.session({}, ALLOW_ALL);
  await first.say(session, "Do it.");
  await expect.poll(() => existsSync(inProject("effect.txt")), { interval: 2 }).toBe(true);
  await first.vanish();
  await killProcesses();
  stage.rehearsal.use([text("I see.")]);
  const second = await stage.open({
    leaseTtl: 1_000,
    recovery: "resume",
    home: join(stage.root, "another-home"),
    stateFolder: join(stage.root, "another-state"),
  });
  expect(textsOf(await second.until(session, isIdle))).toEqual(["I see."]);
  const { toolResults } = stage.rehearsal.modelRequests.at(-1)!;
  expect(toolResults).toMatchObject([{ isError: true, text: expect.stringContaining("outcome is not known") }]);
});

test.each([
  ["the first", false],
  ["a later", true],
])("%s message whose transcript was lost is sent to the model again by the server that resumes", async (_, later) => {
  const first = await stage.open({ leaseTtl: 1_000, idle: 50 });
  stage.rehearsal.use([always(text("Yes."))]);
  const session = await first.session();
  if (later) {
    await first.turn(session, "Are you there?");
    await expect.poll(() => first.store.leases.holder(session.id as never)).toBeUndefined();
  }
  const head = await first.engine.sessions.head(session.id);
  const message = await first.say(session, "The word is quince.");
  await first.until(session, isType("session.status_running"), head);
  await first.vanish();
  await killProcesses();
  stage.rehearsal.use([always(text("Quince."))]);
  const second = await stage.open({ leaseTtl: 1_000, recovery: "resume" });
  expect(textsOf(await second.until(session, isIdle, head))).toEqual(["Quince."]);
  expect(stage.rehearsal.modelRequests.at(-1)!.lastUserText).toContain("The word is quince.");
  expect(await judgeSession(second, session, [message])).toEqual([]);
});
