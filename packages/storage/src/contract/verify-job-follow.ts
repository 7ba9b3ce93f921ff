import { newId } from "@tandem/protocol";
import { expect } from "vitest";
import type { JobEvent, JobLease } from "../job-store.ts";
import type { Store } from "../store.ts";
import { job } from "./samples.ts";
import { defaultTenantOnly, numbers, tooLate, type Stage, type Behaviours } from "./storage-stage.ts";

const seqs = (events: readonly JobEvent[]): number[] => events.map(({ seq }) => seq);
const step = (number: number) => ({ type: "step", number });

/** Follows until the log ends; `reached` resolves after `count` events. */
function follow(store: Store, id: JobLease["job"], after = 0, count = 1) {
  const reached = Promise.withResolvers<void>();
  const all = async (): Promise<JobEvent[]> => {
    const events: JobEvent[] = [];
    const signal = tooLate();
    for await (const batch of store.jobs.follow(id, after, signal)) {
      events.push(...batch);
      if (events.length >= count) reached.resolve();
    }
    expect(signal.aborted).toBe(false);
    return events;
  };
  return { all: all(), reached: reached.promise };
}

const everywhere = (stage: Stage, id: JobLease["job"], after = 0, count = 1) =>
  [stage.store, stage.other, stage.other].map((store) => follow(store, id, after, count));

export const verifyJobFollow: Behaviours = {
  "Followers in any process see each event once, until the job ends": async (stage) => {
    const { row, ...lease } = await stage.job();
    await stage.store.jobs.write(lease, numbers(400).map(step));
    const followers = [...everywhere(stage, row.id), ...everywhere(stage, row.id, 300)];
    for (const round of numbers(30)) {
      await Promise.all(
        numbers(20).map((number) => stage.store.jobs.write(lease, [step(number)], { progress: round })),
      );
    }
    const [last] = await stage.store.jobs.write(lease, [{ type: "ended" }], { state: "done" });
    expect(last!.seq).toBe(1_001);
    const [here, there, again, ...later] = await Promise.all(followers.map(({ all }) => all));
    for (const events of [here!, there!, again!]) expect(seqs(events)).toEqual(numbers(1_001));
    for (const events of later) expect(seqs(events)).toEqual(numbers(701, 301));
    expect(there).toEqual(await stage.store.jobs.events(row.id, { after: 0, limit: 2_000 }));
    // Following also ends when the signal fires.
    const other = await stage.job();
    await stage.store.jobs.write(other, [step(1)]);
    const stop = new AbortController();
    const seen: number[] = [];
    for await (const batch of stage.other.jobs.follow(other.job, 0, stop.signal)) {
      seen.push(...seqs(batch));
      setImmediate(() => stop.abort());
    }
    expect(seen).toEqual([1]);
  },

  "Following ends with the job, even if no event marks its end or it ended before": async (stage) => {
    const { row, ...lease } = await stage.job();
    await stage.store.jobs.write(lease, [step(1)]);
    const waiting = everywhere(stage, row.id);
    await Promise.all(waiting.map(({ reached }) => reached));
    await stage.store.jobs.write(lease, [], { state: "cancelled" });
    for (const { all } of waiting) expect(seqs(await all)).toEqual([1]);
    // Following an ended job.
    for (const { all } of everywhere(stage, row.id)) expect(seqs(await all)).toEqual([1]);
    for (const { all } of everywhere(stage, row.id, 1)) expect(await all).toEqual([]);
    const never = job({ state: "failed" });
    await stage.store.jobs.create(never);
    for (const { all } of everywhere(stage, never.id)) expect(await all).toEqual([]);
    // Following a deleted or unknown job.
    const doomed = await stage.job();
    await stage.store.jobs.write(doomed, [step(1)]);
    const left = everywhere(stage, doomed.job);
    await Promise.all(left.map(({ reached }) => reached));
    await stage.store.jobs.release(doomed);
    await stage.store.jobs.delete(doomed.job);
    for (const { all } of left) expect(seqs(await all)).toEqual([1]);
    for (const { all } of everywhere(stage, newId("job"))) expect(await all).toEqual([]);
  },

  "A slow follower misses nothing of an ended job": defaultTenantOnly(async (stage) => {
    for (const store of [stage.store, stage.other]) {
      const { row, ...lease } = await stage.job();
      await stage.store.jobs.write(lease, [step(1)]);
      const events: JobEvent[] = [];
      for await (const batch of store.jobs.follow(row.id, 0, tooLate())) {
        // Write thousands and end the job while the consumer does not ask for more.
        if (events.length === 0) {
          for (let round = 0; round < 12; round += 1) await stage.store.jobs.write(lease, numbers(200).map(step));
          await stage.store.jobs.write(lease, [{ type: "ended" }], { state: "done" });
        }
        events.push(...batch);
      }
      expect(seqs(events)).toEqual(numbers(2_402));
      expect(events.at(-1)!.event).toEqual({ type: "ended" });
    }
  }),
};
