// npm run crash-test: crash tests of Tandem itself on SQLite, Postgres and a fleet.
//   npm run crash-test -- --faults 2000              the long variant
//   npm run crash-test -- --backend fleet --seed 7   one system, repeated
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { renderMarkdown, renderText, runCrashTest, type CrashTestReport } from "@tandem/crash-test";
import { buildPackage } from "./build-package.ts";

/** Tests the built package: it starts in half the time, and it is what users run. Inside node_modules, to find libraries. */
const BUILT = join(import.meta.dirname, "..", "node_modules", ".cache", "tandem", "package");
if (process.env["TANDEM_TEST_COMMAND"] === undefined) {
  console.error("Building the package …");
  await buildPackage(BUILT);
  process.env["TANDEM_TEST_COMMAND"] = join(BUILT, "bin", "tandem.mjs");
}
const { BACKENDS, tandemSystem } = await import("./crash-test/tandem-system.ts");

/** Of all systems together. */
const FAULTS = 60;

const { values } = parseArgs({
  options: {
    faults: { type: "string", default: String(FAULTS) },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    backend: { type: "string", multiple: true, default: [...BACKENDS] },
    only: { type: "string" },
    report: { type: "string" },
    json: { type: "boolean", default: false },
    logs: { type: "boolean", default: false },
  },
});
const backends = BACKENDS.filter((backend) => values.backend.includes(backend));
const stopping = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stopping.abort());

const reports: CrashTestReport[] = [];
try {
  for (const backend of backends) reports.push(await testBackend(backend));
} catch (error) {
  if (!stopping.signal.aborted) throw error;
  console.error("Cancelled. Everything that was started has ended.");
  process.exitCode = 130;
}
if (values.json) console.log(JSON.stringify(reports, null, 2));
if (values.report !== undefined) {
  await writeFile(values.report, renderMarkdown(reports, `npm run crash-test -- --faults ${values.faults}`));
}
if (reports.some(({ violations }) => violations.length > 0)) process.exitCode = 1;

async function testBackend(backend: (typeof BACKENDS)[number]): Promise<CrashTestReport> {
  await using parts = new AsyncDisposableStack();
  const report = await runCrashTest({
    name: `Tandem, ${backend}`,
    createSystem: (stage) => tandemSystem(backend, stage, parts),
    faults: Math.ceil(Number(values.faults) / backends.length),
    seed: Number(values.seed),
    ...(values.only !== undefined && { only: values.only.split(",") }),
    signal: stopping.signal,
    onProgress: ({ done, total, violations, last }) => {
      console.error(`${backend}: ${done} of ${total} faults, ${violations} violations (${last})`);
    },
  });
  if (!values.json) console.log(renderText(report).join("\n"));
  if (values.logs) for (const { message, log = [] } of report.violations) console.log([message, ...log].join("\n    "));
  return report;
}
