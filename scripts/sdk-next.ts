// npm run sdk:next [-- VERSION]: tries another release of the Agent SDK (the newest by default) against every test that
// touches it, in a copy of the project, and reports which tests change their outcome. The project itself is not touched.
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { z } from "zod";
import { scratchVariables } from "./scratch-variables.ts";
import { testOutcomes } from "./test-report.ts";

const SDK = "@anthropic-ai/claude-agent-sdk";
const SUITES = ["packages/claude-code", "packages/runtime/src/contract"];

const root = join(import.meta.dirname, "..");
const manifestFile = "packages/claude-code/package.json";
const manifestSchema = z.looseObject({ dependencies: z.record(z.string(), z.string()) });
const pinned = manifestSchema.parse(JSON.parse(readFileSync(join(root, manifestFile), "utf8"))).dependencies[SDK]!;
const wanted = process.argv[2] ?? JSON.parse(must("npm", ["view", SDK, "version", "--json"], root));
console.log(`Pinned: ${SDK} ${pinned}. Trying: ${wanted}.`);
if (wanted === pinned) console.log("That is the pinned release itself: its tests run all the same.");

const copy = mkdtempSync(join(tmpdir(), "tandem-sdk-next-"));
try {
  const files = must("git", ["ls-files", "--cached", "--others", "--exclude-standard", "-z"], root)
    .split("\0")
    .filter(Boolean);
  for (const file of files) cpSync(join(root, file), join(copy, file), { recursive: true });
  const manifest = manifestSchema.parse(JSON.parse(readFileSync(join(copy, manifestFile), "utf8")));
  manifest.dependencies[SDK] = wanted;
  writeFileSync(join(copy, manifestFile), `${JSON.stringify(manifest, null, 2)}\n`);
  console.log("Installing it in a copy …");
  must("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error"], copy);

  const before = runSuites(root, "pinned");
  const after = runSuites(copy, "tried");
  const changes = [...new Set([...before.keys(), ...after.keys()])]
    .map((test) => ({ test, was: before.get(test) ?? "absent", is: after.get(test) ?? "absent" }))
    .filter(({ was, is }) => was !== is);
  for (const { test, was, is } of changes) console.log(`${is === "failed" ? "✗" : "·"} ${test}: ${was} → ${is}`);
  const broken = changes.filter(({ is }) => is === "failed").length;
  console.log(
    `${after.size} tests with ${SDK} ${wanted}; ${changes.length} differ from ${pinned}, ${broken} of them for the worse.`,
  );
  process.exitCode = broken > 0 ? 1 : 0;
} finally {
  rmSync(copy, { recursive: true, force: true, maxRetries: 5 });
}

function runSuites(folder: string, label: string): ReturnType<typeof testOutcomes> {
  const scratch = mkdtempSync(join(tmpdir(), "tandem-sdk-run-"));
  const report = join(scratch, "report.json");
  console.log(`Running the tests with the ${label} release …`);
  spawnSync(
    process.execPath,
    [join(folder, "node_modules/vitest/vitest.mjs"), "run", ...SUITES, "--reporter=json", `--outputFile=${report}`],
    { cwd: folder, stdio: ["ignore", "ignore", "ignore"], env: { ...scratchVariables(scratch), TANDEM_SOAK: "1" } },
  );
  try {
    return testOutcomes(readFileSync(report, "utf8"));
  } catch (cause) {
    throw new Error(`The tests with the ${label} release wrote no report.`, { cause });
  } finally {
    rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Runs a command and returns its output; exits with that output if it fails. Uses the npm of the running Node. */
function must(command: string, args: string[], cwd: string): string {
  const npm = process.env["npm_execpath"];
  const [file, all] = command === "npm" && npm ? [process.execPath, [npm, ...args]] : [command, args];
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env["PATH"]}` };
  const { status, stdout, stderr } = spawnSync(file, all, { cwd, encoding: "utf8", env, maxBuffer: 1e8 });
  if (status === 0) return stdout;
  console.error(`${command} ${args.join(" ")} failed:\n${stderr}`);
  process.exit(1);
}
