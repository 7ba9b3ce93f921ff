import { scanResult, type ScanResult, TandemError } from "@tandem/protocol";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { loadContext, openNamedConnection } from "@tandem/tandem/compose";
import { findConnection, type Project, requireTrust } from "@tandem/tandem/config";
import type { Invocation } from "../../invocation.ts";
import { EXIT_CODES, exitCodeOf } from "../../exit-code.ts";
import type { JobOutcome } from "../../jobs/describe-job.ts";
import { describePlans, describeScan, scanAsJson } from "../../jobs/describe-scan.ts";
import { planScan, type PricedPlan } from "@tandem/tandem/context";
import { runLimitedJob, withLimitOptions, limitParams, type LimitOptions } from "../../jobs/limit-options.ts";
import { openProject } from "@tandem/tandem/project";
import { Progress } from "../../progress.ts";
import { styleFor, write, writeJson, writeResult } from "../../terminal.ts";
import type { Command } from "commander";
import type { Registration } from "../registration.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  withLimitOptions(command)
    .argument("[connection]", "name of the connection (default: the only one)")
    .option("--all", "scan every connection of this project")
    .option("--dry-run", "print what would be read and the estimated cost, without doing it")
    .option("--no-descriptions", "do not describe tables and columns with a model")
    .addOption(json())
    .action(runner(scan));
  examples(
    command,
    "tandem context scan shop",
    "tandem context scan --all --no-descriptions",
    "tandem context scan shop --dry-run",
    "tandem context scan shop --json | jq '.scans[].tables'",
  );
}

/** Time to save progress and end child processes. */
const STOP_MS = 3_000;

export interface ScanOptions extends LimitOptions {
  all?: boolean;
  dryRun?: boolean;
  descriptions: boolean;
}

export async function scan(invocation: Invocation, name: string | undefined, options: ScanOptions): Promise<number> {
  const project = await openProject(invocation);
  const names = chooseConnections(project, name, options.all ?? false);
  if (!options.descriptions) project.config.scan.descriptions = false;
  if (options.dryRun) {
    await plan(invocation, project, names);
    return EXIT_CODES.ok.code;
  }
  invocation.allowToStop(STOP_MS);
  const outcomes: JobOutcome<ScanResult>[] = [];
  for (const each of names) {
    const outcome = await scanOne(invocation, project, each, options);
    outcomes.push(outcome);
    if (!invocation.json) await write(invocation.stdout, `${describeScan(invocation, each, outcome).join("\n")}\n`);
  }
  if (invocation.json) {
    const scans = names.map((each, at) => scanAsJson(each, outcomes[at]!));
    await writeJson(invocation.stdout, { scans });
  } else if (project.config.llm.provider.backend === "none") {
    const { dim } = styleFor(invocation.stdout);
    await write(
      invocation.stdout,
      `${dim("No model is set up, so tables were not described and no joins were suggested. → tandem setup")}\n`,
    );
  }
  return outcomes.map(exitCode).find((code) => code !== 0) ?? 0;
}

function chooseConnections(project: Project, name: string | undefined, all: boolean): string[] {
  const names = Object.keys(project.config.connections);
  if (name !== undefined && all) {
    throw new TandemError("usage", "A connection and --all were given.", { fix: "Give one of them." });
  }
  if (name !== undefined) {
    findConnection(project, name);
    return [name];
  }
  if (names.length === 0) {
    throw new TandemError("not_found", `${project.displayPath} has no connections.`, {
      fix: "Add one: tandem connections add shop shop.sqlite",
    });
  }
  if (all || names.length === 1) return names;
  throw new TandemError("usage", `There are ${names.length} connections: ${names.join(", ")}.`, {
    fix: "Name one, or scan all with --all.",
  });
}

async function scanOne(
  invocation: Invocation,
  project: Project,
  name: string,
  limits: LimitOptions,
): Promise<JobOutcome<ScanResult>> {
  const { row, watched, milliseconds } = await runLimitedJob(invocation, project, {
    kind: "scan",
    params: { connection: name, descriptions: project.config.scan.descriptions, ...limitParams(limits) },
    command: "tandem context scan",
    title: name,
  });
  return { ...watched, row, result: scanResult.nullable().parse(row.result ?? null), milliseconds };
}

function exitCode({ row }: JobOutcome<ScanResult>): number {
  if (row.state === "done") return EXIT_CODES.ok.code;
  return row.state === "failed" && row.error ? exitCodeOf(row.error.code) : EXIT_CODES.failure.code;
}

/** Reads only the schema and creates nothing, not even a missing context. */
async function plan(invocation: Invocation, project: Project, names: readonly string[]): Promise<void> {
  const { config } = project;
  const hasModel = config.llm.provider.backend !== "none";
  const plans: PricedPlan[] = [];
  {
    using _ = new Progress(invocation, "Looking …");
    const library = await loadContext();
    // Check trust before opening any connection of the config.
    await requireTrust(invocation.env, project);
    const path = resolve(project.folder, config.context.folder);
    const isThere = existsSync(join(path, "context.yaml"));
    const folder = isThere ? await library.openContextFolder({ path, git: config.context.git }) : undefined;
    for (const name of names) {
      await using connection = await openNamedConnection(invocation, project, name);
      const parts = { folder, connectionName: name, connection, config: config.scan };
      plans.push(await planScan(project, { ...parts, signal: invocation.signal }));
    }
  }
  await writeResult(invocation, { plans }, describePlans(invocation, plans, hasModel));
}
