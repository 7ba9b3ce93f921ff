import { expect, inject } from "vitest";
import { SCHEMA_VERSION } from "../operations/schema/migrations.ts";
import { thisHost } from "../stores/worker-store.ts";
import { WORKER_ALIVE_MS } from "../worker-store.ts";
import { workerRow } from "./samples.ts";
import type { Behaviours } from "./storage-stage.ts";

const HOUR = 3_600_000;

export const verifyWorkers: Behaviours = {
  "Workers send heartbeats, are listed, expire, and are forgotten": async (stage) => {
    const { workers } = stage.store;
    const seen = async (id: string) => (await stage.other.workers.list()).find((row) => row.id === id);
    const row = workerRow({ startedAt: "2026-01-02T03:04:05.678Z" });
    const begun = Date.now();
    await workers.beat(row);
    expect(Math.abs((await workers.time()) - begun)).toBeLessThan(10_000 * inject("slowness"));
    expect(await seen(row.id)).toEqual({
      ...row,
      host: thisHost(),
      schema: SCHEMA_VERSION,
      seenAt: expect.any(String),
      silentMs: expect.any(Number),
      alive: true,
    });
    expect(Math.abs(Date.parse((await seen(row.id))!.seenAt) - begun)).toBeLessThan(10_000 * inject("slowness"));
    await stage.other.workers.beat({ ...row, draining: true, sessions: 0 });
    expect(await seen(row.id)).toMatchObject({ draining: true, sessions: 0, startedAt: row.startedAt });
    await expect(workers.beat(workerRow({ holder: row.holder }))).rejects.toMatchObject({ code: "conflict" });

    const silence = (ms: number): Promise<void> =>
      stage.fixture.execute(stage.location, `update worker set seen_at = seen_at - ${ms} where id = '${row.id}'`);
    await silence(WORKER_ALIVE_MS + 1);
    const silent = (await seen(row.id))!;
    expect(silent.alive).toBe(false);
    expect(silent.silentMs).toBeGreaterThan(WORKER_ALIVE_MS);
    await silence(HOUR);
    expect(await seen(row.id)).toBeUndefined();
    await workers.beat(workerRow());
    expect(await stage.fixture.dump(stage.location)).not.toContain(row.id);
    await workers.beat(row);
    expect(await seen(row.id)).toMatchObject({ alive: true });
    await workers.remove(row.id);
    expect(await seen(row.id)).toBeUndefined();
  },
};
