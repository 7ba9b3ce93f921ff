import type { ScanPlan, ScanResult } from "@tandem/context";
import { costOf, type JobId, type LlmConfig, TandemError } from "@tandem/protocol";
import type { JobRow, Store } from "@tandem/storage";
import { holderName, jobModels, loadContext, openContext, openNamedConnection, openStore } from "../compose.ts";
import { findConnection } from "../config/connection-place.ts";
import type { Project } from "../config/load-project.ts";
import type { Context } from "../context.ts";
import { EXIT_CODES, exitCodeOf } from "../exit-code.ts";
import { describeCounts, describeSpent, RunView } from "../jobs/run-view.ts";
import { type Watched, watchJob } from "../jobs/watch-job.ts";
import { openProject } from "../open-project.ts";
import { Progress } from "../progress.ts";
import { printable, styleFor, table, write } from "../terminal.ts";

const COMMAND = "tandem scan";
/** To write down how far it has come, and to end what was started. */
const STOP_MS = 3_000;
const SKIPPED_SHOWN = 20;

export interface ScanOptions {
  all?: boolean;
  dryRun?: boolean;
  descriptions: boolean;
}

/** What came of the scan of one connection. */
interface Outcome extends Watched {
  row: JobRow;
  result: ScanResult | null;
  milliseconds: number;
}

export async function scan(context: Context, name: string | undefined, options: ScanOptions): Promise<number> {
  const project = await openProject(context);
  const names = chooseConnections(project, name, options.all ?? false);
  if (!options.descriptions) project.config.scan.descriptions = false;
  await using store = await openStore(context, project);
  if (options.dryRun) return await plan(context, project, store, names);
  context.allowToStop(STOP_MS);
  const outcomes: Outcome[] = [];
  for (const each of names) {
    const outcome = await scanOne(context, project, store, each);
    outcomes.push(outcome);
    if (!context.json) await write(context.stdout, `${describeOutcome(context, each, outcome).join("\n")}\n`);
  }
  if (context.json) {
    const scans = names.map((each, at) => toJson(each, outcomes[at]!));
    await write(context.stdout, `${JSON.stringify({ scans }, null, 2)}\n`);
  } else if (project.config.llm.provider.backend === "none") {
    const { dim } = styleFor(context.stdout);
    await write(
      context.stdout,
      `${dim("No model is set up: nothing was described, and no joins were asked for. → tandem setup")}\n`,
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
    throw new TandemError("not_found", `${project.shownFile} has no connections.`, {
      fix: "Add one: tandem connections add shop shop.sqlite",
    });
  }
  if (all || names.length === 1) return names;
  throw new TandemError("usage", `There are ${names.length} connections: ${names.join(", ")}.`, {
    fix: "Name one, or scan them with --all.",
  });
}

async function scanOne(context: Context, project: Project, store: Store, name: string): Promise<Outcome> {
  const started = Date.now();
  using view = new RunView(context, name);
  const room = await loadContext();
  const parts = await openContext(project, store);
  await using connection = await openNamedConnection(context, project, name);
  const watching = new AbortController();
  let watched: Promise<Watched> | undefined;
  try {
    const row = await room.runJob({
      store,
      space: parts.folder.id,
      kind: "scan",
      params: { connection: name, descriptions: project.config.scan.descriptions },
      holder: holderName(COMMAND),
      ...(await jobModels(context, project)),
      signal: context.signal,
      onStart: (job: JobId) => {
        watched = watchJob(store.jobs, job, (event) => view.show(event), watching.signal);
      },
      body: (run) => room.scan(run, { context: parts, connectionName: name, connection, config: project.config.scan }),
    });
    const told = await watched!;
    return { ...told, row, result: row.result as ScanResult | null, milliseconds: Date.now() - started };
  } finally {
    watching.abort();
    await watched?.catch(() => {});
  }
}

function exitCode({ row }: Outcome): number {
  if (row.state === "done") return EXIT_CODES.ok.code;
  return row.state === "failed" && row.error ? exitCodeOf(row.error.code) : EXIT_CODES.failure.code;
}

function toJson(connection: string, { row, result, skipped, spent }: Outcome) {
  const { id, state, error } = row;
  return {
    connection,
    job: id,
    state,
    ...(error && { error }),
    ...(result && { tables: result.tables, descriptions: result.descriptions, joins: result.joins }),
    proposals: result?.proposals ?? [],
    skipped: skipped.map(({ stage, item, code, message }) => ({ stage, item, code, message })),
    spent: { requests: spent.requests, cached: spent.cached, usd: spent.usd },
  };
}

function describeOutcome({ stdout }: Context, name: string, outcome: Outcome): string[] {
  const { row, result, skipped, spent, milliseconds } = outcome;
  const { bold, dim, good, warn, bad, accent } = styleFor(stdout);
  const paint = row.state === "done" ? good : row.state === "partly" ? warn : bad;
  const lines = [`${paint(row.state)} ${bold(name)} ${dim(`in ${(milliseconds / 1_000).toFixed(1)} s`)}`];
  if (row.error) {
    lines.push(
      `  ${printable(row.error.message)}`,
      ...(row.error.fix ? [`  ${dim("→")} ${printable(row.error.fix)}`] : []),
    );
  }
  const rows: string[][] = [];
  if (result) {
    const { seen, added, changed, gone } = result.tables;
    rows.push(["tables", `${seen} seen: ${describeCounts({ new: added, changed, gone }, "nothing new")}`]);
    if (result.descriptions) {
      const { described, cached, incomplete, unknown } = result.descriptions;
      const counts = { described, "known before": cached, incomplete, "answers about nothing that is there": unknown };
      rows.push(["descriptions", describeCounts(counts, "none wanted")]);
    }
    if (result.joins) {
      const { accepted, review } = result.joins;
      rows.push(["joins", describeCounts({ certain: accepted, "for review": review }, "none")]);
    }
  }
  if (spent.requests > 0) rows.push(["spent", describeSpent(spent)]);
  if (skipped.length > 0) rows.push(["skipped", String(skipped.length)]);
  lines.push(...table(rows.map(([what, text]) => [`  ${dim(what!)}`, text!])));
  const shown = skipped.slice(0, SKIPPED_SHOWN);
  lines.push(
    ...shown.map(({ stage, item, message }) => `    ${printable(item)} ${dim(`(${stage})`)}: ${printable(message)}`),
  );
  if (skipped.length > shown.length)
    lines.push(`    … and ${skipped.length - shown.length} more: --json lists them all`);
  for (const { id, title, accepted, open } of result?.proposals ?? []) {
    lines.push(
      `  ${title}: ${describeCounts({ "changes accepted by rule": accepted, "for review": open }, "no changes")}`,
    );
    if (open > 0) lines.push(`  ${dim("→")} ${accent(`tandem proposals show ${id}`)}`);
  }
  if (result && result.proposals.length === 0) lines.push(dim("  Nothing to propose: the catalogue is up to date."));
  return lines;
}

async function plan(context: Context, project: Project, store: Store, names: readonly string[]): Promise<number> {
  const { config } = project;
  const hasModel = config.llm.provider.backend !== "none";
  const plans: (ScanPlan & { usd: number | null })[] = [];
  {
    using _ = new Progress(context, "Looking …");
    const room = await loadContext();
    const parts = await openContext(project, store);
    for (const name of names) {
      await using connection = await openNamedConnection(context, project, name);
      const { folder } = parts;
      const planned = await room.planScan({
        ...{ folder, connectionName: name, connection, config: config.scan, hasModel, signal: context.signal },
      });
      plans.push({ ...planned, usd: await priceOf(planned, config.llm) });
    }
  }
  if (context.json) {
    await write(context.stdout, `${JSON.stringify({ plans }, null, 2)}\n`);
    return 0;
  }
  const { bold, dim } = styleFor(context.stdout);
  const number = (value: number) => value.toLocaleString("en-US");
  const lines = plans.flatMap((each) => {
    const requests = each.requests.descriptions + each.requests.joins;
    const rows = each.rows === null ? "" : `, about ${number(each.rows)} rows of which a part is sampled`;
    const price =
      each.usd === null ? "price unknown" : `about $${each.usd.toFixed(each.usd < 0.1 ? 4 : 2)} at list price`;
    return [
      bold(each.connection),
      `  ${dim("read")}   ${number(each.tables)} tables, ${number(each.views)} views${rows}; about ${number(each.queries)} queries`,
      hasModel
        ? `  ${dim("ask")}    ${number(requests)} requests at most: ${number(each.toDescribe)} tables to describe, and joins`
        : `  ${dim("ask")}    nothing: no model is set up`,
      ...(requests > 0 ? [`  ${dim("spend")}  ${price}`] : []),
    ];
  });
  await write(context.stdout, `${[...lines, dim("Nothing was changed.")].join("\n")}\n`);
  return 0;
}

/** What a login, a contract or a cloud charges may differ. */
async function priceOf({ usage, requests }: ScanPlan, { provider, models }: LlmConfig): Promise<number | null> {
  if (requests.descriptions + requests.joins === 0) return 0;
  const { resolveModel } = await import("@tandem/runtime");
  const model = models.candidateExtraction ?? models.default;
  // Claude Code resolves aliases by itself, to what Anthropic's API knows them as.
  const id = resolveModel(provider.backend === "claude-code" ? "anthropic" : provider.backend, model);
  return costOf(id, usage)?.usd ?? null;
}
