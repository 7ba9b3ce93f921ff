import { expect, inject, test } from "vitest";
import { runLabCommand } from "./fleet-lab/run-lab-command.ts";
import { whyNoLab } from "./fleet-lab/why-no-lab.ts";

const HOUR_MS = 3_600_000;
const FAULTS = 500;
const why = await whyNoLab();

test.skipIf(why)(
  `machines made of network namespaces keep the promises of a fleet${why ? ` (${why.problem})` : ""}`,
  {
    timeout: HOUR_MS,
  },
  async () => {
    const { checks } = await runLabCommand("--faults", "0");
    expect(checks.filter(({ failure }) => failure !== undefined)).toEqual([]);
  },
);

test.runIf(inject("soak") && !why)(
  `${FAULTS} faults of machines and links: no violation`,
  { timeout: 4 * HOUR_MS },
  async () => {
    const { report } = await runLabCommand("--checks", "none", "--faults", String(FAULTS));
    expect(report?.violations).toEqual([]);
    expect(report?.faults).toHaveLength(FAULTS);
  },
);
