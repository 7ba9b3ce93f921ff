import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { HookConfig, LoggedEvent } from "@tandem/protocol";
import { text, toolUse } from "@tandem/rehearsal";
import { afterAll, expect, inject, test } from "vitest";
import { setEngineStage, the, typesOf } from "../testing/engine-stage.ts";

const ALLOW = { permission_policy: { type: "always_allow" as const } };
const AGENT = { tools: [{ type: "agent_toolset_20260401" as const, default_config: ALLOW }] };
const hook = (on: HookConfig["on"], script: string): HookConfig => ({
  name: `at ${on}`,
  on,
  command: ["/bin/sh", "-c", script],
  timeout: 10_000 * inject("slowness"),
  failure: "block",
});
const say = (answer: object): string => `echo '${JSON.stringify(answer)}'`;

const stage = await setEngineStage();
const beforeTool = `case "$(cat)" in
    *friday*) ${say({ decision: "block", message: "Not on a Friday." })} ;;
    *broken*) exit 1 ;;
    *original*) ${say({ input: { command: "touch changed.txt" } })} ;;
  esac`;
const afterTool = `cat > '${join(stage.root, "asked.json")}'; ${say({ context: "Run the tests." })}`;
const block = say({ decision: "block", message: "No secrets." });
const prompt = `if grep -q secret; then ${block}; else ${say({ context: "The branch is main." })}; fi`;
const running = await stage.open({
  hooks: [
    hook("sessionStart", say({ context: "Welcome." })),
    hook("prompt", prompt),
    hook("beforeTool", beforeTool),
    hook("afterTool", afterTool),
  ],
});
afterAll(() => stage[Symbol.asyncDispose]());

const hooksIn = (events: readonly LoggedEvent[]) =>
  events.flatMap(({ event }) => (event.type === "tandem.hook" ? [event] : []));
const isThere = (name: string): boolean => existsSync(join(stage.folder, name));
const touch = (name: string) => [toolUse("Bash", { command: `touch ${name}` }), text("done")];

test("before a tool: blocks the call, and the model gets the reason", async () => {
  stage.rehearsal.use(touch("friday.txt"));
  const events = await running.turn(await running.reuse(AGENT), "Go.");
  expect(isThere("friday.txt")).toBe(false);
  expect(the(events, "agent.tool_result")).toMatchObject({ is_error: true });
  const use = the(events, "agent.tool_use");
  expect(hooksIn(events)).toContainEqual(
    expect.objectContaining({ outcome: "blocked", hook: "at beforeTool", event_id: use.id }),
  );
  expect(JSON.stringify(stage.rehearsal.modelRequests.at(-1)!.body)).toContain("Not on a Friday.");
});

test("before a tool: a hook that cannot be reached denies the call", async () => {
  stage.rehearsal.use(touch("broken.txt"));
  const events = await running.turn(await running.reuse(AGENT), "Go.");
  expect(isThere("broken.txt")).toBe(false);
  expect(hooksIn(events)).toContainEqual(expect.objectContaining({ on: "beforeTool", outcome: "failed" }));
});

test("before a tool: the call runs with a changed input", async () => {
  stage.rehearsal.use(touch("original.txt"));
  await running.turn(await running.reuse(AGENT), "Go.");
  expect([isThere("original.txt"), isThere("changed.txt")]).toEqual([false, true]);
});

test("after a tool: its output goes to the model with the result", async () => {
  stage.rehearsal.use([toolUse("Bash", { command: "echo made" }), text("done")]);
  const events = await running.turn(await running.reuse(AGENT), "Go.");
  expect(JSON.stringify(stage.rehearsal.modelRequests.at(-1)!.body)).toContain("Run the tests.");
  const asked = JSON.parse(await readFile(join(stage.root, "asked.json"), "utf8")) as unknown;
  expect(asked).toMatchObject({ tool: "Bash", result: { stdout: "made" } });
  expect(hooksIn(events)).toContainEqual(expect.objectContaining({ on: "afterTool", outcome: "changed" }));
});

test("on a prompt: a block ends the turn before a model request, and steering cannot bypass it", async () => {
  stage.rehearsal.use([]);
  const session = await running.reuse(AGENT);
  const events = await running.turn(session, "The secret is 42.");
  expect(the(events, "session.error").error).toMatchObject({ message: expect.stringContaining("No secrets.") });
  expect(hooksIn(events)).toContainEqual(expect.objectContaining({ on: "prompt", outcome: "blocked" }));
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

test("on a prompt: its addition is part of the conversation, also in the next process", async () => {
  stage.rehearsal.use([text("one")]);
  const session = await running.session({}, AGENT);
  const events = await running.turn(session, "Go.");
  expect(hooksIn(events).map(({ on }) => on)).toEqual(["sessionStart", "prompt"]);
  await running.stop();

  const second = await stage.open({ hooks: [] });
  stage.rehearsal.use([text("two")]);
  await second.turn(session, "Go on.");
  const told = JSON.stringify(stage.rehearsal.modelRequests[0]!.body);
  expect(told).toContain("The branch is main.");
  expect(told).toContain("Welcome.");
});
