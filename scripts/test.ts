// npm test: every check there is. npm run check (--quick): all but what starts real programs.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildPage } from "./build-page.ts";
import { scratchVariables } from "./scratch-variables.ts";
import { countOutcomes, testOutcomes, type Counts, type Outcome } from "./test-report.ts";

const root = join(import.meta.dirname, "..");
const quick = process.argv.includes("--quick");
const scratch = mkdtempSync(join(tmpdir(), "tandem-test-"));
const report = join(scratch, "vitest.json");
const bin = (name: string, file: string): string => join(root, "node_modules", name, file);

const checks: [name: string, args: string[]][] = [
  ["types", [bin("typescript", "bin/tsc"), "-p", "."]],
  ["types of the page", [bin("typescript", "bin/tsc"), "-p", "apps/web"]],
  ["lint", [bin("oxlint", "bin/oxlint"), "--type-aware", "."]],
  ["format", [bin("oxfmt", "bin/oxfmt"), "--check", "."]],
  ["unused code", [bin("knip", "bin/knip.js"), "--no-progress"]],
];
const vitest = [
  ...[bin("vitest", "vitest.mjs"), "run"],
  ...["--reporter=default", "--reporter=json", `--outputFile.json=${report}`],
];
/** With more that fail, something is broken. */
const MOST_UNSTEADY_FILES = 5;

const total: Counts = { passed: 0, failed: 0, skipped: 0 };
for (const [name, args] of checks) {
  const { ok, output, seconds } = run(args);
  total[ok ? "passed" : "failed"] += 1;
  console.log(`${ok ? "✓" : "✗"} ${name} (${seconds} s)`);
  if (!ok) console.log(output);
}
if (!quick) buildPage();
// Shown live: it takes minutes.
const tests = run([...vitest, ...(quick ? ["--project", "unit"] : [])], "inherit");
const outcomes = testOutcomes(readReport());
const unsteady = runAlone();
const counted = countOutcomes(outcomes);
total.passed += counted.passed;
total.skipped += counted.skipped;
// A run that broke outside of any test is a failure too.
total.failed += counted.failed || (tests.ok || unsteady.length > 0 ? 0 : 1);

rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
for (const test of unsteady) console.log(`unsteady: ${test} (failed among the others, passed alone)`);
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = total.failed > 0 ? 1 : 0;

/**
 * Tests with real programs share a machine that may be busy. A file of them that fails is run once more, alone: what fails
 * then has failed. What passes then is named at the end, because it may be a fault that comes seldom.
 */
function runAlone(): string[] {
  const failed = [...outcomes].filter(([, outcome]) => outcome === "failed").map(([test]) => test);
  const files = [...new Set(failed.map((test) => test.slice(0, test.indexOf(": "))))];
  if (files.length === 0 || files.length > MOST_UNSTEADY_FILES) return [];
  if (!files.every((file) => file.endsWith(".binary.test.ts"))) return [];
  console.log(`Once more, alone: ${files.join(", ")}`);
  rmSync(report, { force: true });
  run([...vitest, "--maxWorkers=1", ...files], "inherit");
  const again: Map<string, Outcome> = testOutcomes(readReport());
  for (const [test, outcome] of again) outcomes.set(test, outcome);
  // A file that broke as a whole has other names for its tests when it does not.
  for (const test of failed) if (again.size > 0 && !again.has(test)) outcomes.delete(test);
  return failed.filter((test) => outcomes.get(test) !== "failed");
}

function run(args: string[], stdio: "pipe" | "inherit" = "pipe"): { ok: boolean; output: string; seconds: string } {
  const started = Date.now();
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: root,
    stdio: ["ignore", stdio, stdio],
    encoding: "utf8",
    env: scratchVariables(scratch),
  });
  const seconds = ((Date.now() - started) / 1_000).toFixed(1);
  return { ok: status === 0, output: `${stdout ?? ""}${stderr ?? ""}`, seconds };
}

function readReport(): string | undefined {
  try {
    return readFileSync(report, "utf8");
  } catch {
    return undefined;
  }
}
