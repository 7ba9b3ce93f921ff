import { expect, inject, test } from "vitest";
import { runLabCommand } from "./fleet-lab/run-lab-command.ts";
import { whyNoLab } from "./fleet-lab/why-no-lab.ts";

const HOUR_MS = 3_600_000;
const FAULTS = 500;
const why = await whyNoLab({ hasPgBouncer: false });
const whyNotPooled = await whyNoLab({ hasPgBouncer: true });

// The checks take ten minutes, and some need a moment that a busy machine misses. `npm test` runs the lab's short variant.
test.runIf(inject("soak") && !why)(
  "machines made of network namespaces keep the promises of a fleet",
  { timeout: HOUR_MS },
  async () => {
    const { checks } = await runLabCommand("--faults", "0");
    expect(checks.filter(({ failure }) => failure !== undefined)).toEqual([]);
  },
);

test.runIf(inject("soak") && !whyNotPooled)(
  "the same behind PgBouncer in transaction mode",
  { timeout: HOUR_MS },
  async () => {
    const { checks } = await runLabCommand("--faults", "0", "--pgbouncer");
    expect(checks.filter(({ failure }) => failure !== undefined)).toEqual([]);
  },
);

test.runIf(inject("soak") && !why)(
  `${FAULTS} faults of machines and links: no violation`,
  { timeout: 4 * HOUR_MS },
  async () => {
    const { report } = await runLabCommand("--checks", "none", "--takeover", "4s", "--faults", String(FAULTS));
    expect(report?.violations).toEqual([]);
    expect(report?.faults).toHaveLength(FAULTS);
  },
);
