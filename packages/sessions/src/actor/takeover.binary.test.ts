import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { ChildProcess } from "node:child_process";
import type { LoggedEvent } from "@tandem/protocol";
import { always, reply, text, toolUse } from "@tandem/rehearsal";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  textsOf,
  isIdle,
  setEngineStage,
  TEST_SANDBOX,
  the,
  typesOf,
  type EngineStage,
} from "../testing/engine-stage.ts";
import { judgeSession } from "../testing/judge-session.ts";

// Engines crash and stall here, so each test has its own stage.
let stage: EngineStage;
beforeEach(async () => {
  stage = await setEngineStage();
});
afterEach(() => stage[Symbol.asyncDispose]());

const allowAll = {
  tools: [
    {
      type: "agent_toolset_20260401" as const,
      default_config: { permission_policy: { type: "always_allow" as const } },
    },
  ],
};
const isType = (type: string) => (logged: LoggedEvent) => logged.event.type === type;
const inProject = (name: string) => join(stage.folder, name);
/** Its state and command; nothing if it has ended. */
const running = (pid: number): string[] => {
  if (!existsSync(`/proc/${pid}/stat`)) return [];
  const state = /\) (\S)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8"))?.[1];
  return state === "Z" ? [] : [`${pid} ${state} ${readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ")}`];
};
/** In a moment in which it does not write: a process that is halted in a transaction keeps all others from the file. */
const halt = async (server: ChildProcess): Promise<void> => {
  const threads = `/proc/${server.pid}/task`;
  const isStopped = (): boolean =>
    readdirSync(threads).every((id) => /\) T /.test(readFileSync(join(threads, id, "stat"), "utf8")));
  const isFree = async (): Promise<boolean> => {
    server.kill("SIGSTOP");
    // A thread that has not stopped yet could still begin to write.
    await expect.poll(isStopped, { interval: 5 }).toBe(true);
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
  const use = the(await stage.until(session, isIdle), "agent.custom_tool_use");
  const left = await stage.processes();
  server.kill("SIGKILL");
  await once(server, "exit");
  await expect.poll(() => left.flatMap(running)).toEqual([]);
  const engine = await stage.open({ leaseTtl: 1_000 });
  stage.rehearsal.use([text("It rains.")]);
  const head = await engine.engine.sessions.head(session.id);
  await engine.engine.sessions.send(session.id, [
    { type: "user.custom_tool_result", custom_tool_use_id: use.id, content: [{ type: "text", text: "rain" }] },
  ]);
  expect(textsOf(await engine.until(session, isIdle, head))).toEqual(["It rains."]);
  expect(stage.rehearsal.modelRequests.at(-1)!.toolResults).toMatchObject([{ text: "rain", isError: false }]);
  expect(await judgeSession(engine, session)).toEqual([]);
});

test("a running server takes over the session of a killed one, and none of its processes survive", async () => {
  const command = "trap '' TERM HUP INT; while true; do echo tick >> ticks.txt; sleep 0.05; done";
  stage.rehearsal.use([toolUse("Bash", { command })]);
  const { process: server, session } = await stage.spawn(allowAll, "Tick.");
  await expect.poll(() => existsSync(inProject("ticks.txt"))).toBe(true);
  const engine = await stage.open({ leaseTtl: 1_000 });
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
  const taken = Promise.withResolvers<void>();
  stage.rehearsal.use(() => taken.promise.then(() => call));
  const { process: server, session } = await stage.spawn(allowAll, "Do it.");
  await stage.until(session, isType("span.model_request_start"));
  await halt(server);
  const engine = await stage.open({ leaseTtl: 1_000 });
  await engine.until(session, isIdle);
  taken.resolve();
  const head = await engine.engine.sessions.head(session.id);
  // The call awaits approval by now, and no answer was given. In a sandbox, the request waits in the stalled server.
  await expect.poll(() => TEST_SANDBOX ?? stage.rehearsal.modelRequests.length).toBe(TEST_SANDBOX ?? 1);
  server.kill("SIGCONT");
  await expect.poll(() => stage.processes()).toEqual([]);
  expect(await engine.engine.sessions.head(session.id)).toBe(head);
  expect(existsSync(inProject("effect.txt"))).toBe(false);
});

test("another server tells the model again what the store had lost and which outcomes are unknown", async () => {
  const weather = { name: "weather", description: "w", input_schema: { type: "object" as const } };
  const agent = { tools: [...allowAll.tools, { type: "custom" as const, ...weather }] };
  let engine = await stage.open({ leaseTtl: 1_000 });
  const session = await engine.session({}, agent);
  let servers = 0;
  /** Another engine, which has only the store. */
  const crash = async (meanwhile: () => void, settings: object = {}): Promise<void> => {
    await engine.vanish();
    await stage.killProcesses();
    meanwhile();
    servers += 1;
    engine = await stage.open({
      leaseTtl: 1_000,
      home: join(stage.root, `home-${servers}`),
      stateFolder: join(stage.root, `state-${servers}`),
      ...settings,
    });
  };

  // The store has only Claude Code's notes about its queue, then the message without the call. The answer reaches the model
  // in words.
  for (const [city, storedLines] of [
    ["Bern", 2],
    ["Rome", 3],
  ] as const) {
    const { store } = engine;
    const append = store.transcripts.append.bind(store.transcripts);
    let left: number = storedLines;
    store.transcripts.append = async (lease, subpath, lines) => {
      const stored = lines.slice(0, left);
      left -= stored.length;
      if (stored.length > 0) await append(lease, subpath, stored);
      if (stored.length === lines.length) return;
      // A database that goes away stays away: later lines must not be stored either.
      left = 0;
      throw new Error("away");
    };
    stage.rehearsal.use([
      reply([text("Let me see."), toolUse("mcp__tandem__weather", { city })]),
      always(text("It rains.")),
    ]);
    await engine.markRead(session);
    await engine.say(session, "Weather?");
    const use = the(await engine.until(session, isIdle), "agent.custom_tool_use");
    await crash(() => undefined);
    const head = await engine.engine.sessions.head(session.id);
    await engine.engine.sessions.send(session.id, [
      { type: "user.custom_tool_result", custom_tool_use_id: use.id, content: [{ type: "text", text: "rain" }] },
    ]);
    expect(textsOf(await engine.until(session, isIdle, head))).toEqual(["It rains."]);
    expect(stage.rehearsal.modelRequests.at(-1)!.lastUserText).toMatch(
      new RegExp(`weather with {"city":"${city}"}[^]*rain`),
    );
    expect(await judgeSession(engine, session)).toEqual([]);
  }

  // A call whose outcome is unknown is not repeated; the model reads that it is unknown.
  stage.rehearsal.use([toolUse("Bash", { command: "echo done >> effect.txt; tail -F waiting.txt" })]);
  await engine.markRead(session);
  await engine.say(session, "Do it.");
  await expect.poll(() => existsSync(inProject("effect.txt")), { interval: 2 }).toBe(true);
  await crash(() => stage.rehearsal.use([text("I see.")]), { recovery: "resume" });
  expect(textsOf(await engine.until(session, isIdle))).toEqual(["I see."]);
  const { toolResults } = stage.rehearsal.modelRequests.at(-1)!;
  expect(toolResults.at(-1)).toMatchObject({ isError: true, text: expect.stringContaining("outcome is not known") });
});

test("a message of which nothing was kept, the first or a later one, is given to the model again by the server that resumes", async () => {
  const settings = { leaseTtl: 1_000, idle: 50, recovery: "resume" as const };
  let engine = await stage.open(settings);
  const session = await engine.session();
  for (const word of ["quince", "medlar"]) {
    stage.rehearsal.use([always(text("Too early."))]);
    const head = await engine.engine.sessions.head(session.id);
    const message = await engine.say(session, `The word is ${word}.`);
    await engine.until(session, isType("session.status_running"), head);
    await engine.vanish();
    await stage.killProcesses();
    stage.rehearsal.use([always(text(`It is ${word}.`))]);
    engine = await stage.open(settings);
    expect(textsOf(await engine.until(session, isIdle, head))).toEqual([`It is ${word}.`]);
    expect(stage.rehearsal.modelRequests.at(-1)!.lastUserText).toContain(`The word is ${word}.`);
    expect(await judgeSession(engine, session, [message])).toEqual([]);
    await expect.poll(() => engine.store.leases.holder(session.id as never)).toBeUndefined();
  }
});
