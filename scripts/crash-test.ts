// npm run crash-test: crash tests of Tandem itself on SQLite, Postgres and a fleet.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { renderMarkdown, renderText, type CrashTestReport } from "@tandem/crash-test";
import { buildPackage } from "./build-package.ts";

const HELP = `Crash tests of Tandem on SQLite, Postgres and a fleet

Usage: npm run crash-test -- [options]

  --faults NUMBER   of all systems together (default: 60; the long variant: 2000)
  --seed NUMBER     repeats the order of faults and work of another run (default: random)
  --backend NAME    sqlite, postgres or fleet; may be repeated (default: all)
  --only KINDS      only these faults, such as kill,pause,lost-answer
  --sessions NUMBER sessions at the same time (default: 3)
  --workers NUMBER  of a fleet (default: 2)
  --at-once NUMBER  faults of processes at the same time (default: 1)
  --sandbox         run the sessions in the sandbox
  --report FILE     also write the results as Markdown
  --save FILE       also write the results as JSON, after each system
  --merge FILE      results of an earlier run, for the report; may be repeated. With --faults 0, nothing is run
  --json            print the results as JSON
  --logs            print the end of the log of each session with a violation
  --help            show this

It builds the package first, unless TANDEM_TEST_COMMAND names a tandem.mjs.
The exit code is 1 after a violation. Ctrl-C ends everything that was started.
`;

/** Of all systems together. */
const FAULTS = 60;
/** Tests the built package: it starts in half the time, and it is what users run. Inside node_modules, to find libraries. */
const BUILT = join(import.meta.dirname, "..", "node_modules", ".cache", "tandem", "package");

const { values } = parseArgs({
  options: {
    faults: { type: "string", default: String(FAULTS) },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    backend: { type: "string", multiple: true },
    only: { type: "string" },
    sessions: { type: "string" },
    workers: { type: "string" },
    "at-once": { type: "string", default: "1" },
    sandbox: { type: "boolean", default: false },
    report: { type: "string" },
    save: { type: "string" },
    merge: { type: "string", multiple: true, default: [] },
    json: { type: "boolean", default: false },
    logs: { type: "boolean", default: false },
    help: { type: "boolean", short: "h", default: false },
  },
});
if (values.help) console.log(HELP);
else await run();

async function run(): Promise<void> {
  const read = async (file: string) => JSON.parse(await readFile(file, "utf8")) as CrashTestReport[];
  const reports = (await Promise.all(values.merge.map(read))).flat();
  const faults = Number(values.faults);
  if (faults > 0) await testAll(faults, reports);
  if (values.json) console.log(JSON.stringify(reports, null, 2));
  if (values.report !== undefined) {
    await writeFile(values.report, renderMarkdown(reports, "npm run crash-test"));
  }
  if (reports.some(({ violations }) => violations.length > 0)) process.exitCode ??= 1;
}

async function testAll(faults: number, reports: CrashTestReport[]): Promise<void> {
  if (process.env["TANDEM_TEST_COMMAND"] === undefined) {
    console.error("Building the package …");
    await buildPackage(BUILT);
    process.env["TANDEM_TEST_COMMAND"] = join(BUILT, "bin", "tandem.mjs");
  }
  const { BACKENDS } = await import("./crash-test/tandem-system.ts");
  const { testTandem } = await import("./crash-test/test-tandem.ts");
  const wanted = values.backend ?? BACKENDS;
  const unknown = wanted.find((name) => !BACKENDS.some((backend) => backend === name));
  if (unknown !== undefined) throw new Error(`There is no backend ${unknown}. Choose from ${BACKENDS.join(", ")}.`);
  const backends = BACKENDS.filter((backend) => wanted.includes(backend));
  const stopping = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stopping.abort());
  for (const backend of backends) {
    try {
      const report = await testTandem(backend, {
        faults: Math.ceil(faults / backends.length),
        seed: Number(values.seed),
        ...(values.only !== undefined && { only: values.only.split(",") }),
        ...(values.sessions !== undefined && { sessions: Number(values.sessions) }),
        ...(values.workers !== undefined && { workers: Number(values.workers) }),
        faultsAtOnce: Number(values["at-once"]),
        sandbox: values.sandbox,
        signal: stopping.signal,
        onProgress: ({ done, total, violations, last }) => {
          console.error(`${backend}: ${done} of ${total} faults, ${violations} violations (${last})`);
        },
      });
      reports.push(report);
      if (!values.json) console.log(renderText(report).join("\n"));
      if (values.logs) {
        for (const { message, log = [] } of report.violations) console.log([message, ...log].join("\n    "));
      }
      if (values.save !== undefined) await writeFile(values.save, JSON.stringify(reports));
    } catch (error) {
      if (!stopping.signal.aborted) throw error;
      console.error("Cancelled. Everything that was started has ended.");
      process.exitCode = 130;
      return;
    }
  }
}
