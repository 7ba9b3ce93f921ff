import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SESSION_METADATA, type LoggedEvent, type ModelUsage } from "@tandem/protocol";
import { always, madeUpLogin, text, toolUse } from "@tandem/rehearsal";
import { knownWall } from "@tandem/sandbox";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ALLOW_ALL, setEngineStage, the, type EngineStage, type RunningEngine } from "../testing/engine-stage.ts";

const wall = knownWall(process.env);
/** Sends requests with the stand-in that it reads in the login's file. */
const CALL = `token=$(sed 's/.*"accessToken":"\\([^"]*\\)".*/\\1/' $CLAUDE_CONFIG_DIR/.credentials.json)
for i in 1 2 3; do
  curl -sS -m 30 --unix-socket /run/tandem/api.sock http://localhost/v1/messages -H "authorization: Bearer $token" \
    -H "anthropic-version: 2023-06-01" -H "content-type: application/json" \
    -d '{"model":"claude-haiku-5-5","max_tokens":9,"messages":[{"role":"user","content":"direct"}]}' >answer-$i.json
done`;

let stage: EngineStage;
let running: RunningEngine;
beforeEach(async () => {
  stage = await setEngineStage([], { proxy: true });
  stage.rehearsal.use([
    always(({ lastUserText }) => {
      if (lastUserText === "Call.") return toolUse("Bash", { command: "sh call.sh" });
      return text(lastUserText === "direct" ? "answered" : "done");
    }),
  ]);
  await writeFile(join(stage.folder, "call.sh"), CALL);
  const home = join(stage.root, "home");
  await madeUpLogin(join(home, ".claude"));
  running = await stage.open({
    sandbox: { mode: "require" },
    credential: async () => ({ type: "login", configDir: join(home, ".claude") }),
    hostVariables: { PATH: process.env["PATH"], HOME: home, ...stage.rehearsal.proxy.variables },
  });
});
afterEach(() => stage[Symbol.asyncDispose]());

const direct = (): number =>
  stage.rehearsal.modelRequests.filter(({ lastUserText }) => lastUserText === "direct").length;

const inputOf = (events: readonly LoggedEvent[], types: readonly string[]): number =>
  events
    .filter(({ event }) => types.includes(event.type))
    .reduce((sum, { event }) => sum + (event as { model_usage: ModelUsage }).model_usage.input_tokens, 0);

test.skipIf(!wall.on)("requests that a command sends to the model count once, as all others do", async () => {
  const session = await running.session({}, ALLOW_ALL);
  const events = await running.turn(session, "Call.");
  expect(direct()).toBe(3);
  const sides = events.filter(({ event }) => event.type === "tandem.side_request");
  expect(sides.length).toBeGreaterThanOrEqual(3);
  expect(sides[0]!.event).toMatchObject({ tandem: { model: "claude-haiku-5-5", usd: expect.any(Number) } });
  const { usage, tandem } = the(events, "session.usage");
  expect(usage.input_tokens).toBe(inputOf(events, ["tandem.side_request", "span.model_request_end"]));
  expect(tandem?.requests).toBe(stage.rehearsal.modelRequests.length);
  expect(events.map(({ event }) => event.type)).not.toContain("tandem.usage_mismatch");
});

test.skipIf(!wall.on)("at the limit, further requests are refused and the turn ends", async () => {
  const metadata = { [SESSION_METADATA.limits]: JSON.stringify({ session: { requests: 3 } }) };
  const session = await running.session({ metadata }, ALLOW_ALL);
  const events = await running.turn(session, "Call.");
  // One request of the conversation, and two that leave no place for its next.
  expect(direct()).toBe(2);
  expect(the(events, "session.status_idle").stop_reason).toEqual({ type: "budget_reached" });
});
