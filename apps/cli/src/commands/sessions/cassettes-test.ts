import { rename, writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { formatCassette, inParallel, TandemError, type TestReport } from "@tandem/protocol";
import type { Command } from "commander";
import { describeReplay } from "../../cassettes/describe-replay.ts";
import type { FoundCase } from "../../cassettes/find-cases.ts";
import { githubAnnotation, junitReport } from "../../cassettes/junit-report.ts";
import type { CaseOutcome } from "../../cassettes/run-case.ts";
import { confirm } from "../../input/confirm.ts";
import { EXIT_CODES } from "../../exit-code.ts";
import type { Invocation } from "../../invocation.ts";
import { toCount } from "../../number-options.ts";
import { printable, styleFor, write, writeJson } from "../../terminal.ts";
import { subcommandsOf, type Registration } from "../registration.ts";

interface TestOptions {
  parallel?: string;
  junit?: string;
  update?: boolean;
  yes?: boolean;
}

export function registerTest(command: Command, { examples, json, runner }: Registration): void {
  examples(
    subcommandsOf(command)("test", "Replay cassettes and check the assertions of their cases.")
      .argument("<paths...>", "cassettes (*.jsonl), cases (*.case.yaml, *.case.ts), or folders that have some")
      .option("--parallel <n>", "cases that run at once (default: the number of cores, at most 8)")
      .option("--junit <file>", "also write a JUnit report")
      .option("--update", "replace cassettes whose replay differs by the new run")
      .option("-y, --yes", "update without asking")
      .addOption(json())
      .action(runner(testCassettes)),
    "tandem cassettes test cassettes/",
    "tandem cassettes test cassettes/ --junit report.xml",
    "tandem cassettes test cassettes/login.case.yaml --update",
  );
}

/** Returns 1 if a case failed. */
async function testCassettes(invocation: Invocation, paths: readonly string[], options: TestOptions): Promise<number> {
  const { stdout, json, cwd, env } = invocation;
  const parallel =
    options.parallel === undefined ? Math.min(8, availableParallelism()) : toCount("--parallel", options.parallel);
  if (options.update && !options.yes && (json || !invocation.stdin.isTTY)) {
    throw new TandemError("usage", "There is no terminal to ask before an update.", {
      fix: "Add --yes to replace the cassettes without asking.",
    });
  }
  const [{ findCases }, { DIFFERS, runCase }] = await Promise.all([
    import("../../cassettes/find-cases.ts"),
    import("../../cassettes/run-case.ts"),
  ]);
  const cases = await findCases(paths, cwd);
  const outcomes = await inParallel(cases, parallel, async (found) => {
    const outcome = await runCase(found, invocation);
    if (!json) await write(stdout, `${describe(outcome, stdout).join("\n")}\n`);
    return outcome;
  });
  const updated = options.update ? await update(invocation, outcomes, options) : new Set<string>();
  const failed = outcomes.filter(({ failures }) => failures.length > 0);
  const remaining = failed.filter(
    ({ case: { cassette }, failures }) => !updated.has(cassette) || failures.some((failure) => failure !== DIFFERS),
  );
  if (options.junit !== undefined) await writeFile(resolve(cwd, options.junit), junitReport(outcomes));
  if (json) {
    const report: TestReport = {
      report: "test",
      passed: outcomes.length - failed.length,
      failed: failed.length,
      cases: outcomes.map(({ case: { name, cassette }, failures, divergence, steps, durationMs }) => ({
        name,
        cassette,
        passed: failures.length === 0,
        failures,
        divergence: divergence ?? null,
        steps,
        duration_ms: durationMs,
        updated: updated.has(cassette),
      })),
    };
    await writeJson(stdout, report);
  } else {
    const repaired = failed.length - remaining.length;
    const counts = [
      `${outcomes.length - failed.length} passed`,
      ...(repaired > 0 ? [`${repaired} updated`] : []),
      `${remaining.length} failed`,
    ];
    await write(stdout, `${counts.join(", ")}\n`);
    if (env["GITHUB_ACTIONS"] && remaining.length > 0) {
      await write(stdout, `${remaining.map(githubAnnotation).join("\n")}\n`);
    }
  }
  return remaining.length > 0 ? EXIT_CODES.failure.code : EXIT_CODES.ok.code;
}

function describe(
  { case: { name, test }, failures, divergence, steps, durationMs }: CaseOutcome,
  stdout: Invocation["stdout"],
): string[] {
  const style = styleFor(stdout);
  const { good, bad, dim } = style;
  if (failures.length === 0) return [`${good("✓")} ${printable(name)} ${dim(`${steps} steps, ${durationMs} ms`)}`];
  const mode = test.mode === "real-tools" ? "real_tools" : "recorded";
  const head =
    divergence && test.identical
      ? describeReplay({ divergence, steps, mode, run: null }, name, style)
      : [`${bad("✗")} ${printable(name)}`];
  const others = divergence && test.identical ? failures.slice(1) : failures;
  return [...head, ...others.map((failure) => `  ${printable(failure)}`)];
}

/** Writes the new run of every case that differs over its cassette. Returns the files. */
async function update(
  invocation: Invocation,
  outcomes: readonly CaseOutcome[],
  { yes = false }: TestOptions,
): Promise<Set<string>> {
  const written = new Set<string>();
  for (const { case: found, divergence, produced } of outcomes) {
    if (!divergence || !produced || written.has(found.cassette)) continue;
    if (!yes && !(await isConfirmed(invocation, found))) continue;
    const scratch = `${found.cassette}.new`;
    await writeFile(scratch, formatCassette(produced), { mode: 0o600 });
    await rename(scratch, found.cassette);
    written.add(found.cassette);
    if (!invocation.json) await write(invocation.stdout, `Updated ${printable(found.cassette)}\n`);
  }
  return written;
}

async function isConfirmed(invocation: Invocation, { name }: FoundCase): Promise<boolean> {
  try {
    await confirm(invocation, "", `Replace the cassette of ${printable(name)} by the new run?`);
    return true;
  } catch (error) {
    if (error instanceof TandemError && error.code === "declined") return false;
    throw error;
  }
}
