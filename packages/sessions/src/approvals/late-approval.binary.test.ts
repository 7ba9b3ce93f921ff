import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { AgentCreateParams, HookConfig, LoggedEvent } from "@tandem/protocol";
import { always, reply, text, toolUse } from "@tandem/rehearsal";
import { afterAll, describe, expect, inject, test } from "vitest";
import { allow, deny, isOver, pendingOf, untilAsked, waitsFor } from "../testing/until-asked.ts";
import type { NamedServer } from "../mcp/session-mcp-server.ts";
import { setEngineStage, type RunningEngine } from "../testing/engine-stage.ts";

const stage = await setEngineStage();
afterAll(() => stage[Symbol.asyncDispose]());

const bash = (command: string, more = {}) => toolUse("Bash", { command, ...more });
/** An MCP server whose tool returns its input. */
const eyes: NamedServer = async () => ({
  endpoint: {
    type: "stdio",
    command: process.execPath,
    args: [
      "--no-warnings",
      fileURLToPath(import.meta.resolve("../testing/mcp-stdio-server.ts")),
      join(stage.root, "look.txt"),
    ],
    variables: {},
    folder: stage.folder,
  },
  // As for a server of the config, in a sandbox it sees its program and files.
  confinement: { type: "sandbox", folder: "read", hosts: "public", mounts: [], seesCommand: true },
});
const WITH_EYES: Partial<AgentCreateParams> = {
  mcp_servers: [{ type: "url", name: "eyes", url: "tandem:eyes" }],
  tools: [
    { type: "agent_toolset_20260401" },
    {
      type: "mcp_toolset",
      mcp_server_name: "eyes",
      default_config: { permission_policy: { type: "always_ask" } },
    },
  ],
};
const BLOCKS: HookConfig = {
  name: "guard",
  on: "beforeTool",
  command: [
    "/bin/sh",
    "-c",
    `case "$(cat)" in *blocked*) echo '{"decision":"block","message":"Not on a Friday."}';; esac`,
  ],
  timeout: 10_000 * inject("slowness"),
  failure: "block",
};
const effectsOf = async (name: string): Promise<string[]> =>
  existsSync(join(stage.folder, name)) ? (await readFile(join(stage.folder, name), "utf8")).trim().split("\n") : [];
const statesOf = (events: readonly LoggedEvent[], call?: string): string[] =>
  events.flatMap(({ event }) =>
    event.type === "tandem.tool_state" && (call ?? event.event_id) === event.event_id ? [event.state] : [],
  );
const neverRepeats = () => always(text("Done."));
const lastRequest = (): string => JSON.stringify(stage.rehearsal.modelRequests.at(-1)?.body) ?? "";
const open = (): Promise<RunningEngine> => stage.open({ leaseTtl: 1_000 });

const killChildren = async (): Promise<void> => {
  await stage.killProcesses();
  await expect.poll(() => stage.processes()).toEqual([]);
};

async function crash(engine: RunningEngine): Promise<void> {
  await engine.vanish();
  await killChildren();
}

test("an allowed call runs after a crash: in order, edited calls as edited, and denied or blocked ones never", async () => {
  await writeFile(join(stage.root, "look.txt"), "Looks around.");
  const first = await stage.open({ leaseTtl: 1_000, mcpServer: eyes });
  stage.rehearsal.use([
    reply([
      ...["one", "two", "three", "blocked"].map((word) => bash(`echo ${word} >> several.txt`)),
      ...["four", "five"].map((word) => bash(`echo ${word} >> several.txt`, { run_in_background: true })),
      ...["here", "there"].map((where) => toolUse("mcp__eyes__look", { where })),
    ]),
    neverRepeats(),
  ]);
  const session = await first.session({}, WITH_EYES);
  const asked = await untilAsked(first, session, { count: 8 });
  const idOf = (word: string) => asked.find(({ input }) => new RegExp(`\\b${word}\\b`).test(JSON.stringify(input)))!.id;
  await crash(first);
  const second = await stage.open({ leaseTtl: 1_000, mcpServer: eyes, hooks: [BLOCKS] });
  const answer = (word: string, more: object) =>
    second.engine.approvals.answer(idOf(word), { ...allow, ...more }, "Ada");
  await answer("two", { ...deny, message: "Not this one." });
  for (const word of ["one", "blocked", "four", "five", "here"]) await answer(word, {});
  await expect(answer("three", { input: { command: "echo [redacted] >> several.txt" } })).rejects.toThrow(/redacted/);
  await answer("three", { input: { command: "echo edited >> several.txt" } });
  await answer("there", { input: { where: "elsewhere" } });
  const events = await second.until(session, isOver);
  // A background command may be stopped before it has an effect, because another one has to run.
  const effects = await effectsOf("several.txt");
  expect(effects.filter((word) => word !== "four")).toEqual(["one", "edited", "five"]);
  const ran = events.findLastIndex(({ event }) => event.type === "tandem.tool_state" && event.state === "running");
  expect(events.slice(0, ran).filter(({ event }) => event.type === "span.model_request_start")).toHaveLength(1);
  for (const word of ["one", "four", "five", "here", "there"]) {
    expect(statesOf(events, idOf(word)), word).toEqual(["waiting", "allowed", "running", "done"]);
  }
  expect(statesOf(events, idOf("two"))).toEqual(["waiting", "denied"]);
  expect(statesOf(events, idOf("blocked"))).toEqual(["waiting", "allowed", "denied"]);
  const seen = events.flatMap(({ event }) => (event.type === "agent.mcp_tool_result" ? [JSON.stringify(event)] : []));
  expect(seen).toEqual([expect.stringContaining("here"), expect.stringContaining("elsewhere")]);
  for (const told of ["Not this one.", "Not on a Friday.", "The user changed the input of the call of Bash"]) {
    expect(lastRequest()).toContain(told);
  }
  expect(lastRequest()).toContain("The user changed the input of the call of look");
  expect(lastRequest()).toContain("was stopped, because another background command had to run");
  await second.stop();
});

test("Claude Code dies by a signal while an approval waits: it stays open, and answering it continues the turn", async () => {
  const engine = await open();
  const signals = ["SIGKILL", "SIGTERM", "SIGSEGV"] as const;
  stage.rehearsal.use([
    always(({ lastUserText }) =>
      signals.some((name) => name === lastUserText) ? bash(`echo ran >> ${lastUserText}.txt`) : text("Done."),
    ),
  ]);
  for (const signal of signals) {
    const session = await engine.session();
    const [asked] = await untilAsked(engine, session, { words: signal });
    const head = await engine.engine.sessions.head(session.id);
    for (const pid of await stage.processes()) process.kill(pid, signal);
    await engine.until(session, ({ event }) => event.type === "tandem.recovered", head);
    expect(await pendingOf(engine, session)).toMatchObject([{ id: asked!.id, status: "pending", state: "waiting" }]);
    await engine.engine.approvals.answer(asked!.id, allow, "Ada");
    const events = await engine.until(session, isOver);
    expect(await effectsOf(`${signal}.txt`)).toEqual(["ran"]);
    expect(statesOf(events)).toEqual(["waiting", "allowed", "running", "done"]);
  }
  await engine.stop();
});

test("calls that could not start stay allowed in the inbox until they run, are dismissed, or a rule denies them", async () => {
  const first = await open();
  const words = ["run", "dismiss", "forbid"];
  stage.rehearsal.use([reply(words.map((word) => bash(`echo ${word} >> held.txt`))), neverRepeats()]);
  const session = await first.session();
  const asked = await untilAsked(first, session, { count: 3 });
  const [run, dismissed, forbidden] = words.map(
    (word) => asked.find(({ input }) => JSON.stringify(input).includes(`echo ${word} `))!.id,
  );
  await crash(first);
  let isBroken = true;
  const second = await stage.open({
    leaseTtl: 1_000,
    credential: async () => {
      if (isBroken) throw new Error("The keychain is locked.");
      return { type: "api_key", key: "sk-ant-made-up-key", baseUrl: stage.rehearsal.url };
    },
  });
  const { approvals, rules } = second.engine;
  const head = await second.engine.sessions.head(session.id);
  await approvals.answer(run!, { ...allow, input: { command: "echo edited >> held.txt" } }, "Ada");
  await approvals.answer(dismissed!, allow, "Ada");
  await approvals.answer(forbidden!, allow, "Ada");
  await second.until(session, waitsFor(3), head);
  expect(await pendingOf(second, session)).toMatchObject(
    [run, dismissed, forbidden].map((id) => ({ id, status: "pending", state: "allowed", resolved: { by: "Ada" } })),
  );
  await approvals.answer(dismissed!, { ...deny, message: "Not needed." }, "Bob");
  await rules.add({ tool: "Bash", pattern: "echo forbid *", action: "deny" }, { scope: "user", of: null, by: "Bob" });
  isBroken = false;
  await approvals.answer(forbidden!, allow, "Bob");
  await approvals.answer(run!, allow, "Bob");
  const events = await second.until(session, isOver);
  expect(await effectsOf("held.txt")).toEqual(["edited"]);
  const endOf = (id: string) => statesOf(events, id).at(-1);
  expect([run!, dismissed!, forbidden!].map(endOf)).toEqual(["done", "denied", "denied"]);
  expect(await pendingOf(second, session)).toEqual([]);
  expect(lastRequest()).toContain("Not needed.");
  expect(lastRequest()).toContain("does not allow the call any more");
  await second.stop();
});

describe("a call whose process dies while it runs", () => {
  const begun = (name: string) => `echo begun >> ${name}; tail -f /dev/null`;

  async function untilUnknown(name: string) {
    const engine = await open();
    // A person changes the input: running it again uses the changed one too.
    stage.rehearsal.use([bash("echo unchanged"), neverRepeats()]);
    const session = await engine.session();
    const [asked] = await untilAsked(engine, session);
    await engine.engine.approvals.answer(asked!.id, { ...allow, input: { command: begun(name) } }, "Ada");
    await expect.poll(() => effectsOf(name)).toEqual(["begun"]);
    const head = await engine.engine.sessions.head(session.id);
    await killChildren();
    await engine.until(session, ({ event }) => event.type === "session.status_idle", head);
    const [question] = await pendingOf(engine, session);
    expect(question).toMatchObject({ kind: "question", status: "pending" });
    return { engine, session, question: question! };
  }
  const choose = (choice: string) => ({ ...allow, input: { answers: { Outcome: choice } } });

  test("is not repeated: a person says that it worked, and the turn continues", async () => {
    const { engine, session, question } = await untilUnknown("worked.txt");
    await engine.engine.approvals.answer(question.id, choose("It worked"), "Ada");
    const events = await engine.until(session, isOver);
    expect(await effectsOf("worked.txt")).toEqual(["begun"]);
    expect(statesOf(events)).toEqual(["waiting", "allowed", "running", "unknown", "done"]);
    expect(lastRequest()).toContain("the call took effect");
    await engine.stop();
  });

  test("runs again only if a person says so, also after a crash of the server", async () => {
    const { engine, session, question } = await untilUnknown("again.txt");
    await crash(engine);
    const second = await open();
    await second.engine.approvals.answer(question.id, choose("Run again"), "Ada");
    await expect.poll(() => effectsOf("again.txt")).toEqual(["begun", "begun"]);
    await second.engine.sessions.send(session.id, [{ type: "user.interrupt" }], "Ada");
    await second.until(session, isOver);
    await second.stop();
  });
});
