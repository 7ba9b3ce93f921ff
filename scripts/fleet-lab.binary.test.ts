import { expect, test } from "vitest";
import { runLabCommand } from "./fleet-lab/run-lab-command.ts";
import { whyNoLab } from "./fleet-lab/why-no-lab.ts";

const why = await whyNoLab();
/** Each once: a cut link, one that is cut in one direction, a machine without power, a killed process. */
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
    const { report } = await runLabCommand(...args, "--seed", "3");
    expect(report?.violations).toEqual([]);
    expect(report?.faults.map(({ kind }) => kind).toSorted()).toEqual(KINDS.toSorted());
  },
);
