import { randomBytes } from "node:crypto";
import { newId, type JobId } from "@tandem/protocol";
import { expect, inject } from "vitest";
import { LeaseLost } from "../lease-lost.ts";
import { startJobWorker } from "../testing/writer.ts";
import { job } from "./samples.ts";
import { defaultTenantOnly, numbers, until, tooLate, type Behaviours } from "./storage-stage.ts";

const MINUTE = 60_000;
const newSpace = (): string => `space-${randomBytes(6).toString("hex")}`;
const day = (number: number): string => new Date(Date.UTC(2025, 5, number)).toISOString();
const step = (number: number) => ({ type: "step", number });

export const verifyJobs: Behaviours = {
  "A job round-trips, and its id is unique": defaultTenantOnly(async (stage) => {
    const { jobs } = stage.store;
    const rows = [
      job({ params: { text: "NUL \u0000, half a pair \ud83d" } }),
      job({
        state: "failed",
        progress: [1, 2],
        result: { pages: 3 },
        error: { code: "no_tables", message: "There are no tables.", fix: "Make one." },
        cancelRequested: true,
        startedAt: day(1),
        endedAt: day(2),
      }),
    ];
    for (const row of rows) {
      await jobs.create(row);
      expect(await stage.other.jobs.get(row.id)).toEqual(row);
      await expect(jobs.create({ ...row, kind: "other" })).rejects.toMatchObject({ code: "conflict" });
      expect(await jobs.get(row.id)).toEqual(row);
    }
    expect(await jobs.get(newId("job"))).toBeUndefined();
    expect(await jobs.events(newId("job"), { after: 0, limit: 5 })).toEqual([]);
  }),

  "Jobs are listed by space, kind and state, by page": async (stage) => {
    const { jobs } = stage.store;
    const space = newSpace();
    const rows = numbers(5).map((number) => job({ space, createdAt: day(number) }));
    rows.push(job({ space, createdAt: day(6), kind: "ingest", state: "done" }));
    for (const row of [...rows, job({ space: newSpace(), createdAt: day(3) })]) await jobs.create(row);
    const ids = rows.map(({ id }) => id).toReversed();
    const first = await jobs.list({ space, limit: 4 });
    expect(first.data.map(({ id }) => id)).toEqual(ids.slice(0, 4));
    expect(first.data[1]).toEqual(rows[4]);
    const rest = await jobs.list({ space, limit: 4, cursor: first.next! });
    expect(rest.data.map(({ id }) => id)).toEqual(ids.slice(4));
    expect(rest.next).toBeNull();
    expect((await jobs.list({ space, limit: 4, cursor: rest.previous! })).data).toEqual(first.data);
    const filtered = async (query: object): Promise<string[]> =>
      (await jobs.list({ space, limit: 10, order: "asc", ...query })).data.map(({ id }) => id);
    expect(await filtered({ kind: "ingest" })).toEqual([ids[0]]);
    expect(await filtered({ states: ["done", "failed"] })).toEqual([ids[0]]);
    expect(await filtered({ states: [] })).toEqual([]);
    expect(await filtered({ created: { gte: day(2), lt: day(4) } })).toEqual([rows[1]!.id, rows[2]!.id]);
    await expect(stage.store.agents.list({ limit: 1, cursor: first.next! })).rejects.toMatchObject({
      code: "invalid_request",
    });
  },

  "A job has one holder at a time, and an ended job cannot be taken": async (stage) => {
    const { jobs } = stage.store;
    const row = job();
    await jobs.create(row);
    const taken = await Promise.all(
      numbers(10).map((number) =>
        (number % 2 ? stage.store : stage.other).jobs.take(row.id, `taker ${number}`, MINUTE),
      ),
    );
    const lease = taken.find((each) => each !== undefined)!;
    expect(taken.filter((each) => each !== undefined)).toEqual([{ job: row.id, token: 1 }]);
    const held = await stage.other.jobs.holder(row.id);
    expect(held!.holder).toBe(`taker ${taken.indexOf(lease) + 1}`);
    expect(Date.parse(held!.expiresAt)).toBeGreaterThan(Date.now() + MINUTE / 2);
    const kept = await stage.job();
    const lost = { job: newId("job"), token: 1 };
    expect(await jobs.renew([lease, lost, kept], 1)).toEqual([lost]);
    expect(await jobs.renew([{ job: row.id, token: 7 }], MINUTE)).toHaveLength(1);
    // The lease has expired and another worker takes it; the former holder cannot release it.
    const next = await until(() => stage.other.jobs.take(row.id, "next", MINUTE));
    expect(next.token).toBeGreaterThan(lease.token);
    expect(await jobs.renew([lease], MINUTE)).toEqual([lease]);
    await jobs.release(lease);
    expect((await jobs.holder(row.id))?.holder).toBe("next");
    await jobs.release(next);
    expect(await jobs.holder(row.id)).toBeUndefined();

    const last = (await jobs.take(row.id, "last", MINUTE))!;
    await jobs.write(last, [], { state: "done", endedAt: day(1) });
    await jobs.release(last);
    expect(await stage.other.jobs.take(row.id, "late", MINUTE)).toBeUndefined();
    expect(await jobs.holder(row.id)).toBeUndefined();
    await expect(jobs.take(newId("job"), "me", MINUTE)).rejects.toMatchObject({ code: "not_found" });
    // Race between the end of a job and another taker: an ended job must never be held again.
    for (const round of numbers(10)) {
      const slow = job();
      await jobs.create(slow);
      const old = (await jobs.take(slow.id, `slow ${round}`, 0))!;
      const [ended, taker] = await Promise.allSettled([
        jobs.write(old, [step(1)], { state: "done" }),
        until(async () => {
          const found = await stage.other.jobs.take(slow.id, "quick", MINUTE);
          return found ?? ((await stage.other.jobs.get(slow.id))?.state === "done" ? "too late" : undefined);
        }),
      ]);
      const isEnded = ended.status === "fulfilled";
      expect(taker).toMatchObject({ status: "fulfilled", value: isEnded ? "too late" : { job: slow.id } });
    }
  },

  "Of several jobs of a kind, one at a time is taken alone": async (stage) => {
    const { jobs } = stage.store;
    const takeAlone = (id: JobId, number = 1) =>
      (number % 2 ? stage.store : stage.other).jobs.take(id, `taker ${number}`, MINUTE, { alone: true });
    const space = newSpace();
    for (const round of numbers(5)) {
      const rows = numbers(6).map(() => job({ space, kind: `kind ${round}` }));
      // Jobs are created and taken at the same time, by two processes.
      const taken = await Promise.all(
        rows.map(async (row, index) => {
          await jobs.create(row);
          return takeAlone(row.id, index);
        }),
      );
      const leases = taken.filter((each) => each !== undefined);
      expect(leases).toHaveLength(1);
      const next = rows.find(({ id }) => id !== leases[0]!.job)!;
      expect(await takeAlone(next.id)).toBeUndefined();
      expect(await jobs.held(space, `kind ${round}`)).toMatchObject({
        id: leases[0]!.job,
        holder: expect.stringMatching(/^taker /),
      });
      // Other kinds and other spaces are free, and so is a take that need not be alone.
      for (const other of [job({ space, kind: `other ${round}` }), job({ space: newSpace(), kind: `kind ${round}` })]) {
        await jobs.create(other);
        expect(await takeAlone(other.id)).toBeDefined();
      }
      const beside = (await jobs.take(next.id, "beside", MINUTE))!;
      await jobs.release(beside);
      await jobs.write(leases[0]!, [], { state: "done", endedAt: day(1) });
      expect(await stage.other.jobs.held(space, `kind ${round}`)).toBeUndefined();
      // An ended job counts no more, even while its lease is valid.
      expect(await takeAlone(next.id)).toBeDefined();
    }
  },

  "Queued and abandoned jobs are found": async (stage) => {
    const { jobs } = stage.store;
    const space = newSpace();
    const queued = job({ space, createdAt: day(2) });
    const older = job({ space, createdAt: day(1) });
    const left = job({ space, state: "running", createdAt: day(3) });
    const done = job({ space, state: "done" });
    for (const row of [queued, older, left, done]) await jobs.create(row);
    await stage.job({ space, state: "running" });
    const started = await stage.job({ space });
    const waiting = async (of?: string): Promise<string[]> => (await jobs.waiting(of)).map(({ id }) => id);
    expect(await waiting(space)).toEqual([older.id, queued.id, left.id]);
    await jobs.release(started);
    expect(await waiting(space)).toEqual([older.id, queued.id, left.id, started.job]);
    const everywhere = await waiting();
    expect(everywhere).toEqual(expect.arrayContaining([older.id, started.job]));
    expect(everywhere).not.toContain(done.id);
    expect(await waiting(newSpace())).toEqual([]);
  },

  "A running job without a lease holder is read as interrupted": async (stage) => {
    const { jobs } = stage.store;
    const space = newSpace();
    const { row, ...lease } = await stage.job({ space, state: "queued" });
    const states = async (): Promise<unknown[]> => {
      const listed = (await stage.other.jobs.list({ space, limit: 10 })).data.map(({ state }) => state);
      const interrupted = (await jobs.list({ space, limit: 10, states: ["interrupted"] })).data.length;
      const running = (await jobs.list({ space, limit: 10, states: ["running"] })).data.length;
      return [(await jobs.get(row.id))?.state, ...listed, interrupted, running];
    };
    await jobs.release(lease);
    expect(await states()).toEqual(["queued", "queued", 0, 0]);
    const held = (await jobs.take(row.id, "one", MINUTE))!;
    await jobs.write(held, [], { state: "running" });
    expect(await states()).toEqual(["running", "running", 0, 1]);
    // The holder crashes without writing anything.
    await jobs.renew([held], 1);
    await until(async () => (await jobs.holder(row.id)) === undefined || undefined);
    expect(await states()).toEqual(["interrupted", "interrupted", 1, 0]);
    expect((await jobs.waiting(space)).map(({ state }) => state)).toEqual(["interrupted"]);
    const next = (await jobs.take(row.id, "two", MINUTE))!;
    expect(await states()).toEqual(["running", "running", 0, 1]);
    await jobs.release(next);
    expect(await states()).toEqual(["interrupted", "interrupted", 1, 0]);
    const last = (await jobs.take(row.id, "three", MINUTE))!;
    await jobs.write(last, [], { state: "done", endedAt: day(1) });
    await jobs.release(last);
    expect(await states()).toEqual(["done", "done", 0, 0]);
  },

  "Events and the row are written atomically and numbered without gaps": async (stage) => {
    const { jobs } = stage.store;
    const { row, ...lease } = await stage.job();
    const strange = { type: "said", text: "NUL \u0000 \ud83d", at: "its own", id: "a", seq: "b" };
    const first = await jobs.write(lease, [step(1), strange], { state: "running", startedAt: day(1) });
    expect(first.map(({ seq, event }) => ({ seq, event }))).toEqual([
      { seq: 1, event: step(1) },
      { seq: 2, event: strange },
    ]);
    const more = await Promise.all(numbers(50).map((number) => jobs.write(lease, [step(number), step(number)])));
    const events = await stage.other.jobs.events(row.id, { after: 0, limit: 1_000 });
    expect(events).toEqual([...first, ...more.flat()]);
    expect(events.map(({ seq }) => seq)).toEqual(numbers(102));
    expect(await jobs.events(row.id, { after: 99, limit: 2 })).toEqual(events.slice(99, 101));
    const error = { code: "partly", message: "One was skipped." };
    expect(await jobs.write(lease, [], { progress: { done: 1 }, error })).toEqual([]);
    expect(await jobs.get(row.id)).toEqual({
      ...row,
      state: "running",
      startedAt: day(1),
      progress: { done: 1 },
      error,
    });
    await jobs.write(lease, [], { error: null, progress: null, result: [1], state: "partly", endedAt: day(2) });
    const ended = { state: "partly", startedAt: day(1), endedAt: day(2), result: [1] };
    expect(await jobs.get(row.id)).toEqual({ ...row, ...ended });
    // Many and long events.
    const long = await stage.job();
    const texts = numbers(300).map((number) => ({ type: "said", text: "x".repeat(number * 100) }));
    await jobs.write(long, texts);
    const read = await jobs.events(long.job, { after: 0, limit: 1_000 });
    expect(read.map(({ event }) => event)).toEqual(texts);
  },

  "A write with a lost lease or after the job's end is rejected and writes nothing": async (stage) => {
    const { jobs } = stage.store;
    const row = job();
    await jobs.create(row);
    const old = (await jobs.take(row.id, "old", 1))!;
    await jobs.write(old, [step(1)]);
    const lease = await until(() => stage.other.jobs.take(row.id, "new", MINUTE));
    const before = await jobs.get(row.id);
    await expect(jobs.write(old, [step(2)], { state: "failed" })).rejects.toBeInstanceOf(LeaseLost);
    await expect(jobs.write({ ...lease, token: 9 }, [])).rejects.toMatchObject({
      code: "lease_lost",
      message: expect.stringContaining(row.id),
    });
    expect(await jobs.get(row.id)).toEqual(before);
    const [second] = await stage.other.jobs.write(lease, [step(2)], { state: "done" });
    expect(second!.seq).toBe(2);
    const late = stage.other.jobs.write(lease, [step(3)], { state: "running" });
    await expect(late).rejects.toMatchObject({ code: "conflict", message: expect.stringContaining("has ended") });
    expect(await jobs.events(row.id, { after: 0, limit: 9 })).toHaveLength(2);
    expect((await jobs.get(row.id))?.state).toBe("done");
    await jobs.release(lease);
    await expect(jobs.write(lease, [step(3)])).rejects.toBeInstanceOf(LeaseLost);
  },

  "The worker of a job sees the cancel request": async (stage) => {
    const { jobs } = stage.store;
    const { row, ...lease } = await stage.job({ state: "running" });
    expect(await stage.other.jobs.requestCancel(row.id)).toBe(true);
    expect(await stage.other.jobs.requestCancel(row.id)).toBe(true);
    expect(await jobs.get(row.id)).toEqual({ ...row, cancelRequested: true });
    await jobs.write(lease, [step(1)], { state: "cancelled", endedAt: day(1) });
    expect(await jobs.get(row.id)).toEqual({ ...row, state: "cancelled", cancelRequested: true, endedAt: day(1) });
    const done = job({ state: "done" });
    await jobs.create(done);
    expect(await jobs.requestCancel(done.id)).toBe(false);
    expect(await jobs.get(done.id)).toEqual(done);
    expect(await jobs.requestCancel(newId("job"))).toBe(false);
  },

  "Deleting a job removes all its data; a held job cannot be deleted": async (stage) => {
    const { jobs } = stage.store;
    const { row, ...lease } = await stage.job();
    const survivor = await stage.job();
    await jobs.write(lease, [{ type: "said", text: `of ${row.id}` }]);
    await jobs.write(survivor, [{ type: "said", text: `of ${survivor.job}` }]);
    await expect(stage.other.jobs.delete(row.id)).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringContaining("stage"),
    });
    expect(await jobs.get(row.id)).toEqual(row);
    await jobs.release(lease);
    expect(await jobs.delete(row.id)).toBe(true);
    expect(await jobs.delete(row.id)).toBe(false);
    expect(await jobs.get(row.id)).toBeUndefined();
    expect(await jobs.events(row.id, { after: 0, limit: 5 })).toEqual([]);
    const dump = await stage.fixture.dump(stage.location);
    expect(dump).not.toContain(row.id);
    expect(await jobs.events(survivor.job, { after: 0, limit: 5 })).toHaveLength(1);
    await expect(jobs.write(lease, [step(1)])).rejects.toBeInstanceOf(LeaseLost);
  },

  "A job of a killed process is taken by another and resumed": defaultTenantOnly(async (stage) => {
    const { jobs } = stage.store;
    const row = job();
    await jobs.create(row);
    const seen: number[] = [];
    const following = (async () => {
      for await (const batch of jobs.follow(row.id, 0, tooLate())) {
        seen.push(...batch.map(({ seq }) => seq));
      }
    })();
    await using worker = startJobWorker(stage.location, row.id, 3_000 * inject("slowness"));
    await worker.acknowledged();
    expect((await jobs.holder(row.id))?.holder).toBe("worker process");
    expect(await jobs.take(row.id, "another", MINUTE)).toBeUndefined();
    const stored = await worker.kill();
    const lease = await until(async () => {
      const left = (await jobs.waiting(row.space)).find(({ id }) => id === row.id);
      return left && jobs.take(left.id, "another", MINUTE);
    });
    const found = await jobs.get(row.id);
    expect(found).toMatchObject({ state: "running", progress: { step: expect.any(Number) } });
    const [last] = await jobs.write(lease, [{ type: "resumed" }], { state: "done" });
    expect(last!.seq).toBeGreaterThan(stored);
    await following;
    expect(seen).toEqual(numbers(last!.seq));
  }),

  "A job is not listed as a session": async (stage) => {
    const heard: string[] = [];
    const stop = [
      stage.store.events.onAppend((session) => heard.push(session)),
      stage.store.inputQueue.onPut((session) => heard.push(session)),
    ];
    const { row, ...lease } = await stage.job({ state: "running" });
    await stage.store.jobs.write(lease, [step(1)]);
    await stage.store.jobs.release(lease);
    expect(await stage.store.leases.abandoned()).not.toContain(row.id);
    expect(await stage.store.sessions.get(row.id)).toBeUndefined();
    for (const unlisten of stop) unlisten();
    expect(heard).not.toContain(row.id);
    const { session } = await stage.session();
    await expect(stage.store.jobs.take(session as never, "me", MINUTE)).rejects.toMatchObject({ code: "not_found" });
    expect(await stage.store.jobs.delete(session as never)).toBe(false);
    expect((await stage.store.leases.holder(session))?.holder).toBe("stage");
  },

  "Deleting a space removes all its data and no other's; it is refused while a job is held": async (stage) => {
    const [space, other] = [newSpace(), newSpace()];
    const leases = await Promise.all([space, other].map((of) => stage.job({ space: of })));
    for (const [index, of] of [space, other].entries()) {
      const record = (key: number) => ({ type: "put", kind: "page", key: `${key}`, value: of }) as const;
      await stage.store.records.write(of, numbers(2_500).map(record));
      await stage.store.blobs.put(of, Buffer.from("content"));
      for (let count = 0; count < 3; count += 1) await stage.store.jobs.create(job({ space: of, state: "done" }));
      await stage.store.jobs.write(leases[index]!, [step(1)]);
    }
    const before = await stage.fixture.dump(stage.location);
    await expect(stage.other.deleteSpace(space)).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringContaining(leases[0]!.job),
    });
    expect((await stage.fixture.dump(stage.location)).length).toBe(before.length);
    await stage.store.jobs.release(leases[0]!);
    await stage.store.deleteSpace(space);
    const after = await stage.fixture.dump(stage.location);
    expect(after).not.toContain(space);
    expect(after).not.toContain(leases[0]!.job);
    expect(after.split(other)).toHaveLength(before.split(other).length);
    await stage.store.deleteSpace(space);
    expect(await stage.store.blobs.prune(other, new Set())).toBe(1);
  },
};
