import { runCrashTest, type CrashTestOptions, type CrashTestReport } from "@tandem/crash-test";
import { SessionWatch } from "../fleet-lab/watch/session-watch.ts";
import { watchViolations } from "../fleet-lab/watch/watch-violations.ts";
import { tandemSystem, type Backend, type TandemOptions } from "./tandem-system.ts";

type TestOptions = Omit<CrashTestOptions, "name" | "createSystem"> & TandemOptions;

/** The crash test of Tandem itself, which also looks at the processes of its sessions and into its database. */
export async function testTandem(backend: Backend, options: TestOptions): Promise<CrashTestReport> {
  await using parts = new AsyncDisposableStack();
  const watches: SessionWatch[] = [];
  const report = await runCrashTest({
    ...options,
    name: `Tandem, ${backend}`,
    createSystem: (stage) => {
      watches.push(parts.use(new SessionWatch(stage.folder)));
      return tandemSystem(backend, stage, parts, options);
    },
  });
  const found = watches.flatMap(({ sightings }) => watchViolations(sightings, report.conversations, report.faults));
  return { ...report, violations: [...report.violations, ...found] };
}
