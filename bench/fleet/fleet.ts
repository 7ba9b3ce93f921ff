import { othersCpuSeconds } from "../server/others-cpu.ts";
import { report, type Section } from "../server/report.ts";

const PARTS: Record<string, () => Promise<() => Promise<Section[]>>> = {
  turns: async () => (await import("./turns.ts")).turns,
  queue: async () => (await import("./fleet-queue.ts")).fleetQueue,
  fanout: async () => (await import("./fleet-fanout.ts")).fleetFanout,
};

/** All parts, or those that are named; `turns` can be followed by numbers of workers. One table at the end. */
export async function run(args: string[]): Promise<void> {
  const workers = args.filter((arg) => /^\d+$/.test(arg)).map(Number);
  const names = args.filter((arg) => !/^\d+$/.test(arg));
  const unknown = names.filter((name) => !(name in PARTS));
  if (unknown.length > 0) {
    console.error(`There is no part ${unknown.join(", ")}. There are: ${Object.keys(PARTS).join(", ")}.`);
    process.exitCode = 2;
    return;
  }
  const sections: Section[] = [];
  const before = { others: othersCpuSeconds(), at: performance.now() };
  for (const [name, load] of Object.entries(PARTS)) {
    if (names.length > 0 && !names.includes(name)) continue;
    if (name === "turns" && workers.length > 0) sections.push(...(await (await import("./turns.ts")).turns(workers)));
    else sections.push(...(await (await load())()));
  }
  const otherCores = (othersCpuSeconds() - before.others) / ((performance.now() - before.at) / 1_000);
  report({ command: ["npm run bench fleet", ...args].join(" "), otherCores }, sections);
}
