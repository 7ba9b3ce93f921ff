import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  client,
  methods,
  type ClientContext,
  type PromptRequest,
  type StopReason,
} from "@agentclientprotocol/sdk/unstable";
import { createEngine, type Engine } from "@tandem/sessions";
import { openStore } from "@tandem/storage";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { ClientServers } from "./client-servers.ts";
import { quickConversation } from "./testing/quick-conversation.ts";
import { createAcpAgent } from "./create-acp-agent.ts";

const TRIALS = inject("soak") ? 500 : 100;
const SESSIONS = 10;

let root: string;
let engine: Engine;
const random = lottery(20_261_115);

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "tandem-races-"));
  const store = await openStore(join(root, "tandem.db"));
  await mkdir(join(root, "project"));
  engine = await createEngine(store, {
    executable: "",
    stateFolder: join(root, "state"),
    hostVariables: {},
    idle: 60_000,
    recovery: "stop",
    credential: async () => ({ type: "api_key", key: "made-up" }),
    deadlines: { spawn: 1_000, init: 1_000, firstByte: 1_000, idle: 1_000, exit: 1_000 },
    leaseTtl: 60_000,
    holder: "races",
    mcpTimeout: 1_000,
    roots: [join(root, "project")],
    models: async () => [{ id: "claude-sonnet-5-5", name: "Sonnet", aliases: ["sonnet"] }],
    openConversation: (_setup, host) => quickConversation(host, () => random(12)),
    sweep: async () => undefined,
    log: { warn: () => undefined },
  });
  await engine.start();
  return async () => {
    await engine.stop(0);
    await store[Symbol.asyncDispose]();
  };
});

afterAll(() => rm(root, { recursive: true, force: true }));

/**
 * A sequence of requests on one session. A prompt that was cancelled while in progress ends as cancelled; no other
 * prompt does.
 */
type Trial = (act: {
  prompt: () => Promise<StopReason>;
  cancel: () => Promise<void>;
  wait: () => Promise<void>;
}) => Promise<{ said: StopReason[]; expected: StopReason[] }>;

const TRIALS_OF: Record<string, Trial> = {
  "a cancellation while idle": async ({ prompt, cancel }) => {
    await cancel();
    return { said: [await prompt()], expected: ["end_turn"] };
  },
  "one right after the prompt": async ({ prompt, cancel }) => {
    const first = prompt();
    await cancel();
    return { said: [await first, await prompt()], expected: ["cancelled", "end_turn"] };
  },
  "two, right after the prompt": async ({ prompt, cancel }) => {
    const first = prompt();
    await Promise.all([cancel(), cancel()]);
    return { said: [await first, await prompt()], expected: ["cancelled", "end_turn"] };
  },
  "one as soon as the answer is there": async ({ prompt, cancel }) => {
    const said = [await prompt()];
    await cancel();
    return { said: [...said, await prompt()], expected: ["end_turn", "end_turn"] };
  },
  "one for a prompt and the one that waits behind it": async ({ prompt, cancel }) => {
    const both = [prompt(), prompt()];
    await cancel();
    return { said: [...(await Promise.all(both)), await prompt()], expected: ["cancelled", "cancelled", "end_turn"] };
  },
  "one some time later, and a prompt right behind it": async ({ prompt, cancel, wait }) => {
    let answered = false;
    const first = prompt().finally(() => (answered = true));
    await wait();
    const wasAnswered = answered;
    await cancel();
    const second = prompt();
    const said = [await first, await second];
    // A cancellation that races with the answer may have either outcome.
    return {
      said,
      expected: [wasAnswered ? "end_turn" : said[0] === "end_turn" ? "end_turn" : "cancelled", "end_turn"],
    };
  },
};

test(`${TRIALS} cancellations at random moments each cancel their own turn and no other`, async () => {
  const wrong: unknown[] = [];
  const kinds = Object.entries(TRIALS_OF);
  const agent = await engine.agents.create({ name: "racer", model: "sonnet", tools: [] });
  const app = createAcpAgent({
    engine,
    who: "races",
    version: "0.0.0",
    clientServers: new ClientServers(),
    begin: async () => ({ agent: agent.id, environment_id: "env_local" }),
  });
  await client({ name: "races" })
    .onNotification(methods.client.session.update, () => undefined)
    .connectWith(app, async (context) => {
      await context.request(methods.agent.initialize, { protocolVersion: 1 });
      const lanes = Array.from({ length: SESSIONS }, (_, lane) =>
        inSession(context, async (act, session) => {
          for (let trial = lane; trial < TRIALS; trial += SESSIONS) {
            const [name, run] = kinds[trial % kinds.length]!;
            const { said, expected } = await run(act);
            if (said.join() !== expected.join()) wrong.push({ trial, name, said, expected, session });
          }
        }),
      );
      await Promise.all(lanes);
    });
  expect(wrong).toEqual([]);
});

async function inSession(
  context: ClientContext,
  work: (act: Parameters<Trial>[0], session: string) => Promise<void>,
): Promise<void> {
  const { sessionId } = await context.request(methods.agent.session.new, {
    cwd: join(root, "project"),
    mcpServers: [],
  });
  const act: Parameters<Trial>[0] = {
    async prompt() {
      const params: PromptRequest = { sessionId, prompt: [{ type: "text", text: "go" }] };
      return (await context.request(methods.agent.session.prompt, params)).stopReason;
    },
    cancel: () => context.notify(methods.agent.session.cancel, { sessionId }),
    async wait() {
      for (let left = random(15); left > 0; left -= 1) await new Promise((resolve) => setImmediate(resolve));
    },
  };
  await work(act, sessionId);
}

/** A deterministic random number generator. */
function lottery(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
