import { newId, RequestError } from "@tandem/protocol";
import { MovableClock } from "@tandem/sessions";
import { scratchStore } from "@tandem/storage/testing/scratch-store";
import { expect, test } from "vitest";
import { RequestJournal, type Execution, type JournalRequest } from "./request-journal.ts";

const store = await scratchStore();

/** Another server on the same store, or the same one after a restart. */
const journal = (clock?: MovableClock): RequestJournal =>
  new RequestJournal(store.records, () => undefined, { clock, beatMs: 20 });

let count = 0;
const request = (more: Partial<JournalRequest> = {}): JournalRequest => ({
  token: "tok_1",
  address: "POST /v1/sessions",
  body: `body ${(count += 1)}`,
  signal: new AbortController().signal,
  onClosed: (report) => report(false),
  ...more,
});

/** Creates things with numbers. */
function creator() {
  let made = 0;
  return {
    create: () => Promise.resolve({ id: (made += 1) }),
    get made() {
      return made;
    },
  };
}

test("a retry gets the first answer, also from another server; equal requests without a retry are two", async () => {
  const things = creator();
  const first = request({ tryNumber: 0 });
  expect(await journal().run(first, things.create)).toEqual({ id: 1 });
  expect(await journal().run({ ...first, tryNumber: 1 }, things.create)).toEqual({ id: 1 });
  expect(await journal().run({ ...first, tryNumber: 2 }, things.create)).toEqual({ id: 1 });
  expect(await journal().run(first, things.create)).toEqual({ id: 2 });
  expect(await journal().run({ ...first, tryNumber: undefined }, things.create)).toEqual({ id: 3 });
});

test("the retries of two equal requests get one answer each", async () => {
  const things = creator();
  const same = request({ tryNumber: 0 });
  const server = journal();
  await Promise.all([server.run(same, things.create), server.run(same, things.create)]);
  const retries = await Promise.all([1, 2].map(() => server.run({ ...same, tryNumber: 1 }, things.create)));
  expect(retries).toEqual(expect.arrayContaining([{ id: 1 }, { id: 2 }]));
  expect(things.made).toBe(2);
});

test("a retry belongs to the request whose answer was lost", async () => {
  const things = creator();
  const same = request({ tryNumber: 0 });
  const server = journal();
  await server.run({ ...same, onClosed: (report) => report(true) }, things.create);
  await server.run(same, things.create);
  await expect.poll(() => server.run({ ...same, tryNumber: 7 + things.made }, things.create)).toEqual({ id: 1 });
});

test("another body, address or token is another request", async () => {
  const things = creator();
  const first = request({ tryNumber: 0 });
  await journal().run(first, things.create);
  for (const other of [{ body: "other" }, { address: "POST /v1/agents" }, { token: "tok_2" }]) {
    await journal().run({ ...first, tryNumber: 1, ...other }, things.create);
  }
  expect(things.made).toBe(4);
});

test("an answer that arrived is not given to a much later request; one that was lost is", async () => {
  const things = creator();
  const [arrived, lost] = [request({ tryNumber: 0 }), request({ tryNumber: 0, onClosed: (report) => report(true) })];
  const clock = new MovableClock();
  const server = journal(clock);
  await server.run(arrived, things.create);
  await server.run(lost, things.create);
  clock.advance(11 * 60_000);
  const later = { tryNumber: 1, timeoutMs: 600_000 };
  expect(await server.run({ ...arrived, ...later }, things.create)).toEqual({ id: 3 });
  expect(await server.run({ ...lost, ...later }, things.create)).toEqual({ id: 2 });
});

test("a first try that its retry has overtaken does not run again, an equal request later does", async () => {
  const things = creator();
  const first = request({ tryNumber: 0 });
  const entered = Promise.withResolvers<void>();
  const clock = new MovableClock();
  const { records } = store;
  // The server of the first try cannot reach the database in time.
  const slow = new RequestJournal(
    {
      ...records,
      get: records.get.bind(records),
      write: async (...change) => {
        await entered.promise;
        return records.write(...change);
      },
    },
    () => undefined,
    { clock, beatMs: 20 },
  );
  const late = slow.run(first, things.create);
  clock.advance(6_000);
  expect(await journal(clock).run({ ...first, tryNumber: 1 }, things.create)).toEqual({ id: 1 });
  entered.resolve();
  expect(await late).toEqual({ id: 1 });
  clock.advance(1_000);
  expect(await journal(clock).run(first, things.create)).toEqual({ id: 2 });
});

test("a retry waits for the first try, at any server", async () => {
  const gate = Promise.withResolvers<object>();
  const first = request({ tryNumber: 0 });
  const server = journal();
  const running = server.run(first, () => gate.promise);
  const never = () => Promise.reject(new Error("made twice"));
  await expect
    .poll(async () => (await store.records.list("requests", "request", { limit: 1_000 })).length)
    .toBeGreaterThan(0);
  const retries = [server, journal()].map((each, index) => each.run({ ...first, tryNumber: index + 1 }, never));
  gate.resolve({ id: 9 });
  expect(await Promise.all([running, ...retries])).toEqual([{ id: 9 }, { id: 9 }, { id: 9 }]);
});

test("a request whose process died is resumed once, with the same ids", async () => {
  const first = request({ key: "after-a-crash" });
  const ids: string[] = [];
  const dying = new RequestJournal(store.records, () => undefined, { beatMs: 1e6 });
  void dying.run(first, ({ newId }) => {
    ids.push(newId("session"));
    return new Promise(() => undefined);
  });
  await expect.poll(() => ids.length).toBe(1);
  let resumed = 0;
  const resume = journal();
  const answers = await Promise.all(
    [1, 2].map(() =>
      resume.run(first, async ({ newId, isResumed }) => {
        resumed += Number(isResumed);
        return { id: newId("session") };
      }),
    ),
  );
  expect(answers).toEqual([{ id: ids[0] }, { id: ids[0] }]);
  expect(resumed).toBe(1);
});

/** A server that stops renewing its request at `until`, and tells what it can do after that. */
function stalled(first: JournalRequest, until: (execution: Execution) => Promise<unknown>) {
  const reached = Promise.withResolvers<Execution>();
  const gate = Promise.withResolvers<never>();
  const server = new RequestJournal(store.records, () => undefined, { beatMs: 1e6 });
  const running = server.run(first, async (execution) => {
    await until(execution);
    reached.resolve(execution);
    return gate.promise;
  });
  running.catch(() => undefined);
  return { execution: reached.promise, fail: (error: Error) => (gate.reject(error), running) };
}

test("an id that replaces the derived one stays, also for a request whose process died", async () => {
  const used = newId("session");
  const first = request({ key: "other-id" });
  await stalled(first, ({ useId }) => useId("session", used)).execution;
  const again = await journal().run(first, async ({ newId: idOf }) => ({
    session: idOf("session"),
    events: [idOf("event"), idOf("session", 1)],
  }));
  expect(again).toEqual({ session: used, events: [expect.stringMatching(/^/), expect.not.stringMatching(used)] });
  expect(await journal().run(first, () => Promise.reject(new Error("made twice")))).toEqual(again);
});

test("a process that was taken over can neither change an id nor remove the request", async () => {
  const first = request({ key: "came-too-late" });
  const late = stalled(first, async () => undefined);
  const { newId: lateId, useId } = await late.execution;
  const answer = await journal().run(first, async ({ newId: idOf }) => {
    expect(await useId("session", newId("session"))).toBe(false);
    await expect(late.fail(new Error("too late"))).rejects.toThrow("too late");
    return { id: idOf("session") };
  });
  expect(answer).toEqual({ id: lateId("session") });
  expect(await journal().run(first, () => Promise.reject(new Error("made twice")))).toEqual(answer);
});

test("a key stands for one request: the same body gets its answer, another body is refused", async () => {
  const things = creator();
  const first = request({ key: "order-1" });
  const clock = new MovableClock();
  const server = journal(clock);
  const both = await Promise.all([server.run(first, things.create), journal().run(first, things.create)]);
  expect(both).toEqual([{ id: 1 }, { id: 1 }]);
  expect(await journal().run(first, things.create)).toEqual({ id: 1 });
  await expect(server.run({ ...first, body: "other" }, things.create)).rejects.toThrow("another request");
  clock.advance(25 * 3_600_000);
  expect(await server.run({ ...first, body: "other" }, things.create)).toEqual({ id: 2 });
});

test("a request that failed runs again", async () => {
  const things = creator();
  const first = request({ key: "fails" });
  await expect(journal().run(first, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await journal().run(first, things.create)).toEqual({ id: 1 });
});

test("a repeatable request is executed again with the same ids, also if it failed after its effect", async () => {
  const made = new Map<string, number>();
  let failure: Error | undefined;
  const send = async ({ newId, isResumed }: Execution) => {
    const ids = [newId("event"), newId("event", 1)];
    if (!isResumed) for (const id of ids) made.set(id, (made.get(id) ?? 0) + 1);
    if (failure) throw failure;
    return { ids };
  };
  const run = (each: JournalRequest) => journal().run(each, send, { isRepeatable: true });
  const first = request({ tryNumber: 0 });
  const answer = await run(first);
  expect(await run({ ...first, tryNumber: 1 })).toEqual(answer);
  expect([made.size, ...made.values()]).toEqual([2, 1, 1]);

  failure = new RequestError("unavailable", "The database cannot be used.");
  const second = request({ tryNumber: 0 });
  await expect(run(second)).rejects.toThrow("database");
  failure = undefined;
  await run({ ...second, tryNumber: 1 });
  expect(made.size).toBe(4);

  failure = new RequestError("invalid_request", "No.");
  const third = request({ tryNumber: 0 });
  await expect(run(third)).rejects.toThrow("No.");
  failure = undefined;
  await run({ ...third, tryNumber: 1 });
  expect(made.size, "a refused request is a new one").toBe(8);
});

test("secrets and large answers are not kept, and a retry says so", async () => {
  const things = creator();
  const [secret, large] = [request({ key: "secret" }), request({ key: "large" })];
  await journal().run(secret, things.create, { isSecret: true });
  await journal().run(large, async () => "x".repeat(300_000));
  await expect(journal().run(secret, things.create)).rejects.toThrow("was carried out");
  await expect(journal().run(large, things.create)).rejects.toThrow("was carried out");
  expect(things.made).toBe(1);
});
