import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, inject, test } from "vitest";
import { whyNoLab } from "./fleet-lab/why-no-lab.ts";

const run = promisify(execFile);
const LAB = join(import.meta.dirname, "fleet-lab.ts");
const [FAULTS, LIMIT_MS] = inject("soak") ? [500, 4 * 3_600_000] : [6, 600_000];
const why = await whyNoLab();

test.skipIf(why)(
  `machines made of network namespaces: ${FAULTS} faults and no violation${why ? ` (${why.problem})` : ""}`,
  { timeout: LIMIT_MS },
  async () => {
    const args = inject("soak") ? [] : ["--checks", "created at one server|full disk|says where"];
    const { stdout } = await run(process.execPath, [LAB, "--json", "--faults", String(FAULTS), ...args], {
      maxBuffer: 100_000_000,
    });
    const { checks, report } = JSON.parse(stdout) as {
      checks: { failure?: string }[];
      report: { faults: unknown[]; violations: unknown[] };
    };
    expect(checks.filter(({ failure }) => failure !== undefined)).toEqual([]);
    expect(report.violations).toEqual([]);
    expect(report.faults).toHaveLength(FAULTS);
  },
);
