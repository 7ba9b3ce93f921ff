import { mkdir, readdir, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { query, type Options } from "@anthropic-ai/claude-agent-sdk";
import { always, startRehearsal, text, toolUse } from "@tandem/rehearsal";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import type { Credential } from "./credential.ts";
import { findExecutable } from "./executable.ts";
import { MARK, plantHostileHome } from "./testing/hostile-home.ts";
import type { ClaudeCode } from "./calls/claude-code.ts";
import { call, setStage } from "./testing/claude-stage.ts";
import { DENIED_VARIABLES } from "./variables.ts";

const transcripts = () => readdir(join(stage.configDir, "projects"), { recursive: true });

/**
 * Proof on the wire: a home and a project full of hooks, servers, plugins, skills, memories and settings, and variables
 * that would redirect the call or its billing. None of it may be executed, offered or sent.
 */
const stage = await setStage();
const elsewhere = await startRehearsal([always(text("from elsewhere"))]);
const evidence = join(stage.home, "evidence");
// Isolated calls run in the neutral folder: the worst place for a hostile project.
const project = join(stage.stateFolder, "neutral");
const configDirs = [stage.configDir, join(stage.stateFolder, "claude-code")];
for (const configDir of configDirs)
  await plantHostileHome({ ...stage, configDir, project, evidence, elsewhere: elsewhere.url });
await mkdir(join(stage.configDir, "projects"), { recursive: true });
const transcriptsBefore = await transcripts();
const hostileVariables = Object.fromEntries(DENIED_VARIABLES.map((name) => [name.replace(/\*$/, "X"), MARK]));
Object.assign(hostileVariables, {
  ANTHROPIC_API_KEY: `sk-ant-${MARK}`,
  ANTHROPIC_BASE_URL: elsewhere.url,
  CLAUDE_CODE_USE_BEDROCK: "1",
  CLAUDE_CODE_USE_VERTEX: "1",
  NODE_OPTIONS: `--require ${join(evidence, "nothing.js")}`,
});
afterAll(async () => {
  await elsewhere.close();
  await stage[Symbol.asyncDispose]();
});

/** All requests that arrived, except the proxy's own. */
const everythingSent = (): string => JSON.stringify(stage.rehearsal.requests);

async function expectNothingHostile(): Promise<void> {
  expect(await readdir(evidence), "nothing was executed").toEqual([]);
  expect(everythingSent(), "nothing was sent").not.toContain(MARK);
  expect(elsewhere.requests, "no other host was asked").toEqual([]);
  expect(stage.rehearsal.refused, "no other host was tried").toEqual([]);
}

const claudes = new Map<Credential["type"], ClaudeCode>();
/** One process for all calls with a credential: its start is the moment at which it could read something hostile. */
function claudeWith(credential: Credential): ClaudeCode {
  const hostVariables = { ...hostileVariables, ...stage.hostVariables };
  const claude = claudes.get(credential.type) ?? stage.claude({ credential, hostVariables, pool: { size: 1 } });
  claudes.set(credential.type, claude);
  return claude;
}

const credentials: [string, () => Credential][] = [
  ["the login", () => stage.login],
  ["an API key", () => stage.apiKey],
];

describe.each(credentials)("with %s", (_, credential) => {
  let claude: ClaudeCode;
  beforeAll(() => {
    claude = claudeWith(credential());
  });

  test("a text call offers and sends only itself", async () => {
    stage.rehearsal.use([text("clean")]);
    expect(await claude.text(call({ prompt: "P" }))).toBe("clean");
    const [request] = stage.rehearsal.modelRequests;
    expect(request!.toolNames).toEqual([]);
    expect(request!.model).not.toContain(MARK);
    await expectNothingHostile();
  });

  test("an object call offers only its answer tool", async () => {
    stage.rehearsal.use([toolUse("mcp__tandem__answer", { ok: true })]);
    const schema = { type: "object", properties: { ok: { type: "boolean" } } };
    await claude.object({ ...call(), jsonSchema: schema, check: () => undefined });
    expect(stage.rehearsal.modelRequests[0]!.toolNames).toEqual(["mcp__tandem__answer"]);
    await expectNothingHostile();
  });

  test("a loop offers only its own tools, and runs no other tool that a model requests", async () => {
    const asked = [
      "Bash",
      "Read",
      "Write",
      "Skill",
      "Agent",
      "Task",
      "SlashCommand",
      "ToolSearch",
      "mcp__hostile__run",
      "hostile",
    ];
    stage.rehearsal.use([
      ...asked.map((name) => toolUse(name, { command: `touch '${join(evidence, name)}'` })),
      text("gave up"),
    ]);
    const tool = {
      name: "look",
      description: "Looks.",
      schema: z.object({}),
      execute: async () => ({ markdown: "ok" }),
    };
    let failures = 0;
    const result = await claude.loop({
      ...call(),
      tools: [tool],
      stepBudget: 20,
      onStepFinish: async (step) => void (failures += step.toolFailures),
    });
    expect(result).toMatchObject({ stopReason: "natural" });
    expect(failures).toBe(asked.length);
    for (const request of stage.rehearsal.modelRequests) {
      expect(request.toolNames.filter((name) => name !== "DeferredToolPlaceholder")).toEqual(["mcp__tandem__look"]);
    }
    await expectNothingHostile();
  });

  test("built-in plugins, skills and agents are not part of the request", async () => {
    stage.rehearsal.use([text("clean")]);
    await claude.text(call());
    expect(JSON.stringify(stage.rehearsal.modelRequests[0]!.body)).not.toMatch(
      /cc-plugin|plugin-authoring|AGENTS\.md|subagent/i,
    );
  });
});

test("the child has exactly one credential; its variables contain neither the secret nor a denied name, and no transcript is left", async () => {
  stage.rehearsal.use([always(text("ok"))]);
  await claudeWith(stage.apiKey).text(call());
  const pids = (await readdir(join(stage.stateFolder, "processes"))).map((name) => Number.parseInt(name, 10));
  const variables = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/environ`, "utf8").catch(() => "")));
  expect(stage.rehearsal.modelRequests.at(-1)?.headers["x-api-key"]).toBe("sk-ant-made-up-key");
  expect(variables.some((text) => text.includes("ANTHROPIC_BASE_URL"))).toBe(true);
  for (const text of variables) expect(text).not.toMatch(new RegExp(`${MARK}|sk-ant-made-up-key`));
  expect(await transcripts()).toEqual(transcriptsBefore);
});

test("a process leaves no transcript behind at its end, with the default config folder", async () => {
  await using plain = await setStage([always(text("clean"))]);
  const found = join(plain.home, "evidence");
  const project = join(plain.stateFolder, "neutral");
  await plantHostileHome({ ...plain, project, evidence: found, elsewhere: elsewhere.url });
  // Without CLAUDE_CONFIG_DIR, the state file is directly in the home folder.
  await rename(join(plain.configDir, ".claude.json"), join(plain.home, ".claude.json"));
  const claude = plain.claude({ credential: { type: "login" } });
  expect(await claude.text(call())).toBe("clean");
  await claude.close();
  expect(await readdir(found)).toEqual([]);
  expect(JSON.stringify(plain.rehearsal.requests)).not.toContain(MARK);
  expect(elsewhere.requests).toEqual([]);
});

test("control: without isolation, the same home does affect the call", async () => {
  await using open = await setStage();
  await using trap = await startRehearsal([always(text("from elsewhere"))]);
  const project = join(open.home, "project");
  const found = join(open.home, "evidence");
  await plantHostileHome({ ...open, project, evidence: found, elsewhere: trap.url });
  const options: Options = {
    cwd: project,
    env: { ...open.hostVariables, CLAUDE_CONFIG_DIR: open.configDir },
    pathToClaudeCodeExecutable: findExecutable(),
    maxTurns: 1,
  };
  for await (const message of query({ prompt: "hello", options })) if (message.type === "result") break;
  expect(await readdir(found)).toEqual(expect.arrayContaining(["user-hook-SessionStart", "project-hook-SessionStart"]));
  expect(JSON.stringify([trap.modelRequests, open.rehearsal.modelRequests])).toContain(MARK);
});
