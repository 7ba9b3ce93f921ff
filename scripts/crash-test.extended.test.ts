import { runCrashTest } from "@tandem/crash-test";
import { whyNoPostgres } from "@tandem/storage/testing";
import { expect, inject, test } from "vitest";
import { BACKENDS, tandemSystem } from "./crash-test/tandem-system.ts";

/** `npm run crash-test -- --faults 2000` is the long variant, and `crash-test.binary.test.ts` the short one. */
const FAULTS = 60;

const skips = (backend: string): boolean =>
  !inject("soak") || process.platform !== "linux" || (backend !== "sqlite" && whyNoPostgres() !== undefined);

test.for(BACKENDS.map((backend) => ({ backend })))(
  `${FAULTS} faults on $backend: no invariant is violated`,
  { timeout: 1_200_000 },
  async ({ backend }, { skip, signal }) => {
    skip(skips(backend), "is part of the soak, and needs Linux, and Postgres for all but SQLite");
    await using parts = new AsyncDisposableStack();
    const report = await runCrashTest({
      name: backend,
      createSystem: (stage) => tandemSystem(backend, stage, parts),
      faults: FAULTS,
      // Printed on failure.
      seed: Date.now() % 1_000_000,
      signal,
    });
    expect(report.violations, `seed ${report.seed}`).toEqual([]);
    expect(report.faults.length).toBe(FAULTS);
  },
);
