// npm test: the checks and tests. npm test -- --all: with the extended tests. npm run check (--quick): without the tests that
// start real programs; lint rules that need types see only files with uncommitted changes, because they take half a minute for all.
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
import { countOutcomes, durations, filesAt, slowestFiles, testOutcomes, type Counts } from "./test-report.ts";

const root = join(import.meta.dirname, "..");
const quick = process.argv.includes("--quick");
const soak = process.argv.includes("--soak");
const all = process.argv.includes("--all");
const sandbox = process.argv.includes("--sandbox");
const scratch = mkdtempSync(join(tmpdir(), "tandem-test-"));
const report = join(scratch, "vitest.json");
const SLOWEST = 10;
/** Measured before the checks, which keep all cores busy. The tests do so, too: hence at least 1.5. */
const slowness = Math.max(1.5, measureSlowness());
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
const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
// Streamed, because it takes minutes.
const tests = await run([bin("vitest", "vitest.mjs"), "run", ...reporters, ...selection()], "inherit");
await checked;
const json = readReport();
const counted = countOutcomes(testOutcomes(json));
total.passed += counted.passed;
total.skipped += counted.skipped;
// An error outside any test is a failure too.
total.failed += counted.failed || (tests.ok ? 0 : 1);

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
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = total.failed > 0 ? 1 : 0;

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
