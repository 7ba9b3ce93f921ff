import Anthropic from "@anthropic-ai/sdk";
import { readFrames } from "@tandem/client";
import { always, slowly, text, toolUse } from "@tandem/rehearsal";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, inject, test } from "vitest";
import type { RunningUp, UpProcess } from "../testing/session-machine.ts";
import { fleetMachine } from "./testing/fleet-machine.ts";

// Two servers and a worker on one Postgres. The tests share them and kill two of them, which have their own processes.

const STREAM_MS = 120_000 * inject("slowness");
let machine: Awaited<ReturnType<typeof fleetMachine>>;
let first: UpProcess;
let second: RunningUp;
let worker: UpProcess;
beforeAll(async () => {
  machine = await fleetMachine();
  await machine.reset([]);
  [first, second, worker] = [
    await machine.upProcess("--as", "server"),
    await machine.up("--as", "server"),
    await machine.upProcess("--as", "worker", "--machine", "alpha"),
  ];
});
afterEach(({ task }) => {
  if (task.result?.state === "fail") console.error(`The worker's log:\n${worker.logged()}`);
});
afterAll(() => machine?.[Symbol.asyncDispose]());

// Each home has its own token, and every server accepts all of them.
const clientOf = ({ url }: RunningUp) => new Anthropic({ baseURL: url, apiKey: first.token, maxRetries: 0 });
const ask = (
  up: RunningUp,
  path: string,
  init: Omit<RequestInit, "headers"> & { headers?: Record<string, string> } = {},
) => fetch(`${up.url}${path}`, { ...init, headers: { authorization: `Bearer ${first.token}`, ...init.headers } });

const CALLS = [
  { type: "custom" as const, name: "weather", description: "w", input_schema: { type: "object" as const } },
];

async function begin(up: RunningUp, tools: typeof CALLS = []): Promise<string> {
  const agent = await clientOf(up).beta.agents.create({ name: "tester", model: "claude-sonnet-5-5", tools });
  return (await clientOf(up).beta.sessions.create({ agent: agent.id, environment_id: "env_local" })).id;
}

const say = (up: RunningUp, session: string, words: string) =>
  clientOf(up).beta.sessions.events.send(session, {
    events: [{ type: "user.message", content: [{ type: "text", text: words }] }],
  });

interface Frame {
  id: string | undefined;
  event: { type: string; id?: string };
}

/** Reads the frames of a stream with their ids, from which a client resumes. */
async function* frames(up: RunningUp, session: string, after?: string): AsyncGenerator<Frame> {
  const answer = await ask(up, `/v1/sessions/${session}/events/stream?event_deltas[]=agent.message&tandem=true`, {
    headers: after === undefined ? {} : { "last-event-id": after },
    signal: AbortSignal.timeout(STREAM_MS),
  });
  expect(answer.status).toBe(200);
  for await (const { id, data } of readFrames(answer.body!)) yield { id, event: JSON.parse(data) as Frame["event"] };
}

test("any server serves the worker's data, and forwards an answer to the worker", async () => {
  machine.rehearsal.use([toolUse("mcp__tandem__weather", { city: "Bern" }), always(text("It rains."))]);
  await writeFile(join(machine.folder, "project", "notes.txt"), "of the machine");
  const session = await begin(second, CALLS);
  const file = await ask(first, `/v1/sessions/${session}/files/content?path=notes.txt`);
  expect(await file.json()).toMatchObject({ text: "of the machine" });
  const shell = await ask(second, `/v1/sessions/${session}/shell`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ command: "cat notes.txt" }),
  });
  expect(await shell.json()).toMatchObject({ output: expect.stringContaining("of the machine") });
  await say(first, session, "Weather?");
  const waiting = async () =>
    (await clientOf(second).beta.sessions.events.list(session)).data.find(
      ({ type }) => type === "agent.custom_tool_use",
    );
  await expect.poll(waiting).toBeDefined();
  await expect.poll(async () => (await clientOf(first).beta.sessions.retrieve(session)).status).toBe("idle");
  await clientOf(second).beta.sessions.events.send(session, {
    events: [
      {
        type: "user.custom_tool_result",
        custom_tool_use_id: (await waiting())!.id,
        content: [{ type: "text", text: "rain" }],
      },
    ],
  });
  const types = async () => (await clientOf(first).beta.sessions.events.list(session)).data.map(({ type }) => type);
  await expect.poll(types).toContain("agent.message");
});

test("a client resumes at the other server after a kill during an answer and misses nothing", async () => {
  machine.rehearsal.use([slowly(text("A long story. ".repeat(30)), { tokenMs: 150 })]);
  const session = await begin(first);
  const stream = frames(first, session);
  const opened = stream.next();
  await say(second, session, "Count.");
  const seen: Frame[] = [(await opened).value as Frame];
  try {
    for await (const frame of stream) {
      seen.push(frame);
      if (frame.event.type === "event_delta") first.child.kill("SIGKILL");
    }
  } catch {
    // The connection broke.
  }
  expect(seen.some(({ event }) => event.type === "agent.message")).toBe(false);
  const last = seen.findLast(({ id }) => id !== undefined)!.id!;
  const rest: Frame[] = [];
  for await (const frame of frames(second, session, last)) {
    rest.push(frame);
    if (frame.event.type === "session.status_idle") break;
  }
  // A client that joins during an answer gets it from the start.
  expect(rest.map(({ event }) => event.type)).toContain("event_start");
  const logged = [...seen, ...rest].filter(({ id }) => id !== undefined);
  expect(logged.map(({ id }) => Number(id))).toEqual(logged.map((_, index) => index + 1));
  expect(logged.filter(({ event }) => event.type === "agent.message")).toHaveLength(1);
});

test("looks up a dead worker again and names it", async () => {
  const session = await begin(second);
  await worker.stop("SIGKILL");
  const answer = await ask(second, `/v1/sessions/${session}/files`);
  expect([answer.status, await answer.text()]).toEqual([503, expect.stringMatching(/alpha/)]);
  machine.rehearsal.use([always(text("Yes."))]);
  const next = await machine.up("--as", "worker", "--machine", "alpha");
  await expect.poll(async () => (await ask(second, `/v1/sessions/${session}/files`)).status).toBe(200);
  await next.stop();
});
