import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { HookConfig } from "@tandem/protocol";
import { text, toolUse } from "@tandem/rehearsal";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ALLOW_ALL, setEngineStage, the, typesOf, type EngineStage } from "../testing/engine-stage.ts";

let stage: EngineStage;
beforeEach(async () => {
  stage = await setEngineStage();
});
afterEach(() => stage[Symbol.asyncDispose]());

const hook = (on: HookConfig["on"], script: string, extra: Partial<HookConfig> = {}): HookConfig => ({
  name: `at ${on}`,
  on,
  command: ["/bin/sh", "-c", script],
  timeout: 10_000,
  failure: "block",
  ...extra,
});
const say = (answer: object): string => `echo '${JSON.stringify(answer)}'`;

test("before a tool: blocks the call, and the model gets the reason", async () => {
  const hooks = [hook("beforeTool", say({ decision: "block", message: "Not on a Friday." }), { tool: "Bash" })];
  const running = await stage.open({ hooks });
  stage.rehearsal.use([toolUse("Bash", { command: "touch made.txt" }), text("done")]);
  const events = await running.turn(await running.session({}, ALLOW_ALL), "Go.");
  expect(existsSync(join(stage.folder, "made.txt"))).toBe(false);
  expect(the(events, "agent.tool_result")).toMatchObject({ is_error: true });
  const use = the(events, "agent.tool_use");
  expect(the(events, "tandem.hook")).toMatchObject({ outcome: "blocked", hook: "at beforeTool", event_id: use.id });
  expect(JSON.stringify(stage.rehearsal.modelRequests.at(-1)!.body)).toContain("Not on a Friday.");
});

test("before a tool: a hook that cannot be reached denies the call", async () => {
  const running = await stage.open({ hooks: [hook("beforeTool", "exit 1")] });
  stage.rehearsal.use([toolUse("Bash", { command: "touch made.txt" }), text("done")]);
  const events = await running.turn(await running.session({}, ALLOW_ALL), "Go.");
  expect(existsSync(join(stage.folder, "made.txt"))).toBe(false);
  expect(the(events, "tandem.hook")).toMatchObject({ outcome: "failed" });
});

test("before a tool: the call runs with a changed input", async () => {
  const change = hook("beforeTool", say({ input: { command: "touch changed.txt" } }), { tool: "Bash" });
  const running = await stage.open({ hooks: [change] });
  stage.rehearsal.use([toolUse("Bash", { command: "touch made.txt" }), text("done")]);
  await running.turn(await running.session({}, ALLOW_ALL), "Go.");
  expect(existsSync(join(stage.folder, "made.txt"))).toBe(false);
  expect(existsSync(join(stage.folder, "changed.txt"))).toBe(true);
});

test("after a tool: its output goes to the model with the result", async () => {
  const asked = join(stage.root, "asked.json");
  const running = await stage.open({
    hooks: [hook("afterTool", `cat > '${asked}'; ${say({ context: "Run the tests." })}`)],
  });
  stage.rehearsal.use([toolUse("Bash", { command: "echo made" }), text("done")]);
  const events = await running.turn(await running.session({}, ALLOW_ALL), "Go.");
  expect(JSON.stringify(stage.rehearsal.modelRequests.at(-1)!.body)).toContain("Run the tests.");
  expect(JSON.parse(await readFile(asked, "utf8"))).toMatchObject({ tool: "Bash", result: { stdout: "made" } });
  expect(the(events, "tandem.hook")).toMatchObject({ on: "afterTool", outcome: "changed" });
});

test("on a prompt: its addition is part of the conversation, also in the next process", async () => {
  const hooks = [
    hook("prompt", say({ context: "The branch is main." })),
    hook("sessionStart", say({ context: "Welcome." })),
  ];
  const first = await stage.open({ hooks });
  stage.rehearsal.use([text("one")]);
  const session = await first.session({}, ALLOW_ALL);
  const events = await first.turn(session, "Go.");
  expect(events.flatMap(({ event }) => (event.type === "tandem.hook" ? [event.on] : []))).toEqual([
    "sessionStart",
    "prompt",
  ]);
  await first.stop();

  const second = await stage.open({ hooks: [] });
  stage.rehearsal.use([text("two")]);
  await second.turn(session, "Go on.");
  const told = JSON.stringify(stage.rehearsal.modelRequests[0]!.body);
  expect(told).toContain("The branch is main.");
  expect(told).toContain("Welcome.");
});

test("on a prompt: a block ends the turn before a model request, and steering cannot bypass it", async () => {
  const block = hook("prompt", `grep -q secret && ${say({ decision: "block", message: "No secrets." })} || true`);
  const running = await stage.open({ hooks: [block] });
  stage.rehearsal.use([]);
  const session = await running.session({}, ALLOW_ALL);
  const events = await running.turn(session, "The secret is 42.");
  expect(the(events, "session.error").error).toMatchObject({ message: expect.stringContaining("No secrets.") });
  expect(the(events, "tandem.hook")).toMatchObject({ on: "prompt", outcome: "blocked" });
  expect(stage.rehearsal.modelRequests).toEqual([]);

  stage.rehearsal.use([toolUse("Bash", { command: "tail -F nothing" }), text("done")]);
  const head = await running.engine.sessions.head(session.id);
  await running.say(session, "Work.");
  await running.until(session, ({ event }) => event.type === "agent.tool_use", head);
  await running.say(session, "Another secret: 43.", "steer");
  await running.engine.sessions.send(session.id, [{ type: "user.interrupt" }]);
  const rest = await running.until(session, ({ event }) => event.type === "session.error", head);
  expect(typesOf(rest)).toContain("session.error");
  const told = JSON.stringify(stage.rehearsal.modelRequests.map(({ body }) => body));
  expect(told).toContain("Work.");
  expect(told, "neither then nor later").not.toMatch(/[Tt]he secret is|Another secret/);
});
