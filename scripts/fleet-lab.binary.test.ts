import { expect, test } from "vitest";
import { runLabCommand } from "./fleet-lab/run-lab-command.ts";
import { whyNoLab } from "./fleet-lab/why-no-lab.ts";

const why = await whyNoLab({ hasPgBouncer: false });
/** A cut link, one that is cut in one direction, a machine without power, a killed process. */
const KINDS = ["cut-worker-database", "one-way-server-worker", "crash-machine", "kill-worker"];

test.skipIf(why)(
  `machines made of network namespaces: four faults and no violation${why ? ` (${why.problem})` : ""}`,
  async () => {
    const args = [
      "--checks",
      "none",
      "--faults",
      String(KINDS.length),
      "--only",
      KINDS.join(),
      "--work",
      "tool,approval",
    ];
    const { report } = await runLabCommand(...args, "--takeover", "3s", "--seed", "3");
    expect(report?.violations).toEqual([]);
    // Each once, unless a cut met no packet: then another fault took its place.
    const kinds = report?.faults.map(({ kind }) => kind) ?? [];
    expect(kinds).toHaveLength(KINDS.length);
    expect(KINDS).toEqual(expect.arrayContaining(kinds));
  },
);
