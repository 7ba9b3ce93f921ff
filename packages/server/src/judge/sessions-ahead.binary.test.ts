import Anthropic from "@anthropic-ai/sdk";
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { always, text } from "@tandem/rehearsal";
import { openStore } from "@tandem/storage";
import { afterAll, afterEach, describe, expect, inject, test } from "vitest";
import { RequestJournal, type Execution } from "../http/idempotency/request-journal.ts";
import { setJudgeStage } from "../testing/judge-stage.ts";
import { startLossyProxy } from "../testing/lossy-proxy.ts";

// Sessions that are created over HTTP, on processes that were started ahead.

const stage = await setJudgeStage({ engine: () => ({ spareProcesses: { count: 2, keepMs: 3_600_000 } }) });
stage.rehearsal.use([always(text("fine"))]);
const store = await openStore(stage.database);
const agent = await stage.agent();
afterAll(async () => {
  await store[Symbol.asyncDispose]();
  await stage[Symbol.asyncDispose]();
});

const pids = async (): Promise<string[]> =>
  (await readdir(join(dirname(stage.folder), "state", "processes"))).map((name) => name.split(".")[0]!);
const create = (client: Anthropic = stage.client) =>
  client.beta.sessions.create({ agent, environment_id: "env_local" });
const sessions = async (): Promise<string[]> => {
  const found: string[] = [];
  for await (const { id } of stage.client.beta.sessions.list()) found.push(id);
  return found;
};

async function turn(session: string): Promise<void> {
  const stream = await stage.client.beta.sessions.events.stream(session);
  await stage.say(session, "Hello.");
  for await (const event of stream) {
    if (event.type === "session.error") throw new Error(event.error.message);
    if (event.type === "session.status_idle") return;
  }
}

/** The one process that waits for a session. */
async function spare(): Promise<string> {
  if ((await pids()).length === 0) {
    const { id } = await create();
    await turn(id);
    await stage.client.beta.sessions.archive(id);
  }
  await expect.poll(pids).toHaveLength(1);
  return (await pids())[0]!;
}

/** Runs a turn and ends the session. Returns the process that ended with it. */
async function processOf(session: string): Promise<string[]> {
  await turn(session);
  const before = await pids();
  await stage.client.beta.sessions.archive(session);
  const after = await pids();
  return before.filter((pid) => !after.includes(pid));
}

test("a session takes the process, and a client that lost the answer gets the same session", async () => {
  const pid = await spare();
  const known = await sessions();
  await using proxy = await startLossyProxy(stage.server, 2);
  const client = new Anthropic({ apiKey: stage.server.secret, baseURL: proxy.url, maxRetries: 2 });
  const { id } = await create(client);
  expect((await sessions()).filter((each) => !known.includes(each))).toEqual([id]);
  expect(await processOf(id)).toEqual([pid]);
});

test("sessions that are created at once do not share a process", async () => {
  const pid = await spare();
  const created = await Promise.all([create(), create(), create()]);
  expect(new Set(created.map(({ id }) => id)).size).toBe(3);
  const used: string[][] = [];
  for (const { id } of created) used.push(await processOf(id));
  expect(used.filter((each) => each.includes(pid))).toEqual([[pid]]);
  expect(new Set(used.flat()).size).toBe(3);
});

test("a request that is refused leaves no session, and its process ends", async () => {
  const pid = await spare();
  const known = await sessions();
  const rubric = { type: "file" as const, file_id: "file_011CNha8iCJcU1wXNR6q4V8w" };
  const initial_events = [{ type: "user.define_outcome" as const, description: "Done.", rubric }];
  const refused = stage.client.beta.sessions.create({ agent, environment_id: "env_local", initial_events });
  await expect(refused).rejects.toThrow("there is no file");
  expect(await sessions()).toEqual(known);
  expect(await pids()).not.toContain(pid);
});

describe("if the server dies while it creates a session, a retry makes no second one", () => {
  const never = new Promise<never>(() => undefined);
  type UseId = Execution["useId"];
  type Creation = (useId: UseId, create: (useId: UseId) => Promise<unknown>, reached: () => void) => Promise<unknown>;
  const points: Record<string, Creation> = {
    "before the id of the process is stored": (_, run, reached) =>
      run(() => {
        reached();
        return never;
      }),
    "before the session is stored": (useId, run, reached) =>
      run(async (kind, id) => {
        await useId(kind, id);
        reached();
        return never;
      }),
    "before it has answered": async (useId, run, reached) => {
      await run(useId);
      reached();
      return never;
    },
  };
  // The process of the unfinished creation would have died with the server.
  afterEach(async () => {
    await stage.engine.killSwitch.stop("test", null);
    await stage.engine.killSwitch.resume("test");
  });
  test.each(Object.entries(points))("%s", async (point, creation) => {
    await spare();
    const known = await sessions();
    const params = { agent, environment_id: "env_local" };
    const request = {
      token: "tok_1",
      address: "POST /v1/sessions",
      body: "{}",
      key: point.replaceAll(" ", "-"),
      signal: new AbortController().signal,
      onClosed: (report: (isLost: boolean) => void) => report(true),
    };
    const journal = (beatMs: number) => new RequestJournal(store.records, () => undefined, { beatMs });
    const reached = Promise.withResolvers<void>();
    const execute = ({ newId, useId, isResumed }: Execution) => {
      const { sessions: all } = stage.engine;
      const id = newId("session");
      if (isResumed) return all.createAgain(params, "test", id);
      return creation(
        useId,
        (use) => all.create(params, "test", id, (other) => use("session", other)),
        reached.resolve,
      );
    };
    void journal(1e6).run(request, execute);
    await reached.promise;
    // A retry that misses three beats of the other one takes it for dead.
    const beatMs = 100 * inject("slowness");
    const answers = await Promise.all([journal(beatMs), journal(beatMs)].map((each) => each.run(request, execute)));
    const added = (await sessions()).filter((each) => !known.includes(each));
    expect(added).toHaveLength(1);
    for (const answer of answers) expect(answer).toMatchObject({ id: added[0] });
    expect(await processOf(added[0]!)).toHaveLength(1);
  });
});
