import { whyNoSandbox } from "@tandem/sessions";
import { whyNoPostgres } from "@tandem/storage/testing";
import { expect, inject, test } from "vitest";
import { BACKENDS } from "./crash-test/tandem-system.ts";
import { testTandem } from "./crash-test/test-tandem.ts";

/** `npm run crash-test -- --faults 2000` is the long variant, and `crash-test.binary.test.ts` the short one. */
const FAULTS = 60;

const skips = (backend: string): boolean =>
  !inject("soak") || process.platform !== "linux" || (backend !== "sqlite" && whyNoPostgres() !== undefined);

test.for(BACKENDS.map((backend) => ({ backend })))(
  `${FAULTS} faults on $backend: no invariant is violated`,
  { timeout: 1_200_000 },
  async ({ backend }, { skip, signal }) => {
    skip(skips(backend), "is part of the soak, and needs Linux, and Postgres for all but SQLite");
    const report = await testTandem(backend, {
      faults: FAULTS,
      // Printed on failure.
      seed: Date.now() % 1_000_000,
      signal,
    });
    expect(report.violations, `seed ${report.seed}`).toEqual([]);
    expect(report.faults.length).toBe(FAULTS);
  },
);

const SESSIONS = inject("soak") ? 24 : 6;
const WORKERS = inject("soak") ? 4 : 2;
const DEATHS = inject("soak") ? 30 : 4;
const whyNoFleet = process.platform === "linux" ? whyNoPostgres() : "processes are counted in /proc";

const noSandbox = await whyNoSandbox(process.env);

/** `npm run crash-test -- --help` has options for more of them. */
test.skipIf(whyNoFleet !== undefined)(
  `${SESSIONS} sessions at a time on two servers and ${WORKERS} workers, of which several are killed at once, as is Postgres: no invariant is violated`,
  { timeout: 1_200_000 },
  async ({ signal }) => {
    const report = await testTandem("fleet", {
      faults: DEATHS,
      only: ["kill", "kill-worker", "kill-database"],
      faultsAtOnce: 3,
      sessions: SESSIONS,
      workers: WORKERS,
      sandbox: noSandbox === undefined,
      seed: Date.now() % 1_000_000,
      signal,
    });
    expect(report.violations, `seed ${report.seed}`).toEqual([]);
    expect(report.faults).toHaveLength(DEATHS);
  },
);
