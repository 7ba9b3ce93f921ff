// npm test: the checks and tests. npm test -- --all: with the extended tests. npm run check (--quick): without the tests that
// start real programs; lint rules that need types see only files with uncommitted changes, because they take half a minute for all.
// --again: files with failed tests run once more, alone; what passes then is listed and does not fail the run.
// npm run soak (--soak): only the tests that repeat faults or generate cases, many times instead of a few.
// npm run soak -- --sandbox: the tests of sessions and of the official client, with every session in a sandbox.
import { execFileSync, spawn } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { buildPackage } from "./build-package.ts";
import { findLeftoverProcesses } from "./leftover-processes.ts";
import { measureSlowness } from "./machine-slowness.ts";
import { scratchVariables } from "./scratch-variables.ts";
import {
  countOutcomes,
  durations,
  failedTests,
  filesAt,
  filesWithFailures,
  slowestFiles,
  testOutcomes,
  type Counts,
} from "./test-report.ts";

const root = join(import.meta.dirname, "..");
const quick = process.argv.includes("--quick");
const soak = process.argv.includes("--soak");
const all = process.argv.includes("--all");
const again = process.argv.includes("--again");
const sandbox = process.argv.includes("--sandbox");
const scratch = mkdtempSync(join(tmpdir(), "tandem-test-"));
const report = join(scratch, "vitest.json");
const SLOWEST = 10;
/** Measured before the checks, which keep all cores busy. The tests do so, too: hence at least 1.5. */
const slowness = Math.max(1.5, measureSlowness());
/** More failed files than these are no accident. */
const MOST_AGAIN = 5;
/** Inside node_modules, so that it finds the installed libraries. */
const built = join(root, "node_modules", ".cache", "tandem", "package");

const bin = (name: string, file: string): string => join(root, "node_modules", name, file);
/** Unchanged files are not checked again. */
const incremental = (name: string): string[] => [
  "--incremental",
  "--tsBuildInfoFile",
  join(root, "node_modules", ".cache", "tandem", `${name}.tsbuildinfo`),
];
const oxlint = bin("oxlint", "bin/oxlint");
const changed = quick ? changedSources() : [];
const checks: [name: string, args: string[]][] = [
  ["lint", [oxlint, ...(quick ? [] : ["--type-aware"]), "."]],
  ...(changed.length > 0
    ? [["lint of changed files", [oxlint, "--type-aware", ...changed]] as [string, string[]]]
    : []),
  ["types", [bin("typescript", "bin/tsc"), "-p", ".", ...incremental("all")]],
  ["types of the page", [bin("typescript", "bin/tsc"), "-p", "apps/web", ...incremental("page")]],
  ["unused code", [bin("knip", "bin/knip.js"), "--no-progress"]],
  ["format", [bin("oxfmt", "bin/oxfmt"), "--check", "."]],
];

const begunAt = Date.now();
const total: Counts = { passed: 0, failed: 0, skipped: 0 };
const checked = Promise.all(
  (soak ? [] : checks).map(async ([name, args]) => {
    const { ok, output, seconds } = await run(args);
    total[ok ? "passed" : "failed"] += 1;
    console.log(`${ok ? "✓" : "✗"} ${name} (${seconds} s)`);
    if (!ok) console.log(output);
  }),
);
if (!quick) {
  await checked;
  await buildPackage(built);
}
const tests = await runTests(selection());
await checked;
const { json } = tests;
const counted = countOutcomes(testOutcomes(json));
total.passed += counted.passed;
total.skipped += counted.skipped;
// An error outside any test is a failure too.
total.failed += counted.failed || (tests.ok ? 0 : 1);

const failedFiles = filesWithFailures(json);
const unsteady: string[] = [];
if (again && counted.failed > 0 && failedFiles.length <= MOST_AGAIN) {
  console.log(`Again, alone: ${failedFiles.join(", ")}`);
  const second = await runTests([...failedFiles, "--no-file-parallelism"]);
  if (second.ok) {
    unsteady.push(...failedTests(json));
    total.failed -= counted.failed;
    total.passed += counted.failed;
  }
}

for (const { pid, command, folder, startedAt } of await findLeftoverProcesses(scratch)) {
  total.failed += 1;
  console.log(`✗ a process was left behind: ${command.slice(0, 200)} (pid ${pid}, in ${folder})`);
  console.log(`  started during ${filesAt(json, startedAt).join(", ") || "no test"}`);
  process.kill(pid, "SIGKILL");
}

rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
const slowest = slowestFiles(json, SLOWEST);
if (slowest.length > 0) console.log(`The slowest ${slowest.length} of the test files:`);
for (const { name, seconds } of slowest) console.log(`${seconds.toFixed(1).padStart(8)} s  ${name}`);
const parts = durations(json, begunAt).map(({ part, ms }) => `${part} ${(ms / 60_000).toFixed(1)}`);
if (parts.length > 0) console.log(`Minutes: ${parts.join(", ")}`);
for (const test of unsteady) console.log(`⚠ passed only alone, a defect of the test or of the product: ${test}`);
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = total.failed > 0 ? 1 : 0;

/** Streamed, because it takes minutes. */
async function runTests(selected: string[]): Promise<{ ok: boolean; json: string | undefined }> {
  rmSync(report, { force: true });
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  const { ok } = await run([bin("vitest", "vitest.mjs"), "run", ...reporters, ...selected], "inherit");
  return { ok, json: readReport() };
}

function run(
  args: string[],
  stdio: "pipe" | "inherit" = "pipe",
): Promise<{ ok: boolean; output: string; seconds: string }> {
  const started = Date.now();
  const child = spawn(process.execPath, args, {
    cwd: root,
    stdio: ["ignore", stdio, stdio],
    env: {
      ...scratchVariables(scratch),
      TANDEM_TEST_SLOWNESS: String(slowness),
      // Tests pass PATH on to every process, so that it marks those that are left behind.
      PATH: `${process.env["PATH"] ?? ""}${delimiter}${join(scratch, "programs")}`,
      ...(soak && !sandbox && { TANDEM_SOAK: "1" }),
      ...(sandbox && { TANDEM_TEST_SANDBOX: "require" }),
      ...(!quick && { TANDEM_TEST_COMMAND: join(built, "bin", "tandem.mjs") }),
    },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (chunk: string) => (output += chunk));
  }
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      resolve({ ok: code === 0, output, seconds: ((Date.now() - started) / 1_000).toFixed(1) });
    });
  });
}

function selection(): string[] {
  if (sandbox)
    return ["--project", "binary", "--project", "extended", "packages/sessions/", "packages/server/src/judge/"];
  return soak ? filesWithLongVariant() : projects().flatMap((name) => ["--project", name]);
}

/** TypeScript files with uncommitted changes. A copy without git has none. */
function changedSources(): string[] {
  const list = (...args: string[]): string[] => {
    try {
      return execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: "pipe" }).split("\0");
    } catch {
      return [];
    }
  };
  const files = [
    ...list("diff", "--name-only", "-z", "--diff-filter=d", "HEAD"),
    ...list("ls-files", "--others", "--exclude-standard", "-z"),
  ];
  return files.filter((file) => /\.tsx?$/.test(file));
}

function projects(): string[] {
  if (quick) return ["unit"];
  return all ? ["unit", "binary", "extended"] : ["unit", "binary"];
}

function filesWithLongVariant(): string[] {
  return globSync("{packages,apps}/*/src/**/*.test.ts", { cwd: root })
    .concat(globSync("scripts/**/*.test.ts", { cwd: root }))
    .filter((file) => readFileSync(join(root, file), "utf8").includes('inject("soak")'));
}

function readReport(): string | undefined {
  try {
    return readFileSync(report, "utf8");
  } catch {
    return undefined;
  }
}
