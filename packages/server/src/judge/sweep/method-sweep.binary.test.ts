import { configSchema } from "@tandem/protocol";
import { text, toolUse } from "@tandem/rehearsal";
import { createMessagesProxy } from "@tandem/runtime";
import { afterAll, beforeAll, expect, test } from "vitest";
import { routeTable } from "../../http/route-table.ts";
import { collectUntil, endsTurn } from "../../testing/collect-stream.ts";
import { type JudgeStage, setJudgeStage } from "../../testing/judge-stage.ts";
import { conformance } from "./conformance.ts";
import { misfits } from "./fits-types.ts";

import { allProbes } from "./probes/all-probes.ts";
import { type MethodOutcome, runSweep } from "./run-sweep.ts";

let stage: JudgeStage;
let outcomes: MethodOutcome[];
beforeAll(async () => {
  stage = await setJudgeStage({
    engine: ({ url }) => {
      const provider = { backend: "anthropic", anthropic: { baseUrl: url } };
      const { llm } = configSchema.parse({ llm: { provider } });
      // The table shows a machine without a sandbox.
      return {
        sandbox: { mode: "off" },
        messages: () => createMessagesProxy(llm, { readSecret: async () => "made-up" }),
      };
    },
  });
  outcomes = await runSweep({ ...stage, finished: await finishedSession() }, allProbes);
});
afterAll(() => stage[Symbol.asyncDispose]());

async function finishedSession() {
  stage.rehearsal.use([
    toolUse("Agent", { description: "d", prompt: "Review it.", subagent_type: "reviewer", run_in_background: false }),
    text("Looks fine to me."),
    text("The reviewer is content."),
  ]);
  const { sessions } = stage.client.beta;
  const reviewer = await stage.agent({ name: "reviewer", description: "Reviews." });
  const session = await stage.session({}, { multiagent: { type: "coordinator", agents: [reviewer] } });
  const stream = await sessions.events.stream(session);
  await stage.say(session, "Have it reviewed.");
  await collectUntil(stream, endsTurn);
  const [primary, child] = (await sessions.threads.list(session)).data;
  return { session, primaryThread: primary!.id, childThread: child!.id };
}

// `vitest run -u` rewrites it.
test("docs/reference/conformance.md has the outcome of every method, and every event", async () => {
  await expect(conformance(outcomes)).toMatchFileSnapshot("../../../../../docs/reference/conformance.md");
});

test("every probe is for a method of the client, and every method without a probe is refused with 404", () => {
  const names = new Set(outcomes.map(({ name }) => name));
  expect(Object.keys(allProbes).filter((name) => !names.has(name))).toEqual([]);
  const unknown = outcomes.filter(
    ({ hasProbe, outcome }) => !hasProbe && !(outcome.type === "refused" && outcome.status === 404),
  );
  expect(unknown.map(({ name, outcome }) => ({ name, outcome }))).toEqual([]);
});

test("no call fails without an answer of the server, or with one that the client would retry", () => {
  expect(outcomes.filter(({ outcome }) => outcome.type === "refused" && outcome.status >= 500)).toEqual([]);
  expect(outcomes.filter(({ outcome }) => outcome.type === "failed")).toEqual([]);
});

test("the answers have the client's types", async () => {
  // Those of the Messages API are the backend's, here the rehearsal's.
  const own = outcomes.filter(({ name }) => !/^(beta\.)?messages\./.test(name));
  expect(await misfits(own)).toEqual([]);
});

test("every route in Anthropic's API is one of the client's methods", () => {
  const names = new Set(outcomes.map(({ name }) => name));
  const routes = routeTable.filter(({ extension }) => !extension).map(({ name }) => name);
  expect(routes.filter((name) => !names.has(`beta.${name}`))).toEqual([]);
});
