import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { othersCpuSeconds } from "./others-cpu.ts";
import { report, type Section } from "./report.ts";

const PARTS: Record<string, () => Promise<(folder: string) => Promise<Section[]>>> = {
  fanout: async () => (await import("./fanout.ts")).fanout,
  sessions: async () => (await import("./sessions.ts")).sessions,
  open: async () => (await import("./open-session.ts")).open,
  idle: async () => (await import("./idle.ts")).idle,
  soak: async () => (await import("./soak.ts")).soak,
};

/** All parts, or those that are named; one table at the end. */
export async function run(args: string[]): Promise<void> {
  const unknown = args.filter((name) => !(name in PARTS));
  if (unknown.length > 0) {
    console.error(`There is no part ${unknown.join(", ")}. There are: ${Object.keys(PARTS).join(", ")}.`);
    process.exitCode = 2;
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), "tandem-bench-"));
  const sections: Section[] = [];
  const before = { others: othersCpuSeconds(), at: performance.now() };
  try {
    for (const [name, load] of Object.entries(PARTS)) {
      if (args.length > 0 && !args.includes(name)) continue;
      sections.push(...(await (await load())(folder)));
    }
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
  const otherCores = (othersCpuSeconds() - before.others) / ((performance.now() - before.at) / 1_000);
  report({ command: ["npm run bench server", ...args].join(" "), otherCores }, sections);
}
