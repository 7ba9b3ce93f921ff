import type { IngestPlan, IngestReport } from "@tandem/context";
import type { JobRow } from "@tandem/storage";
import type { Invocation } from "../invocation.ts";
import { printable, styleFor, table } from "../terminal.ts";
import { describeCounts, describeSpent } from "./run-view.ts";
import type { Watched } from "./watch-job.ts";

const SKIPPED_SHOWN = 20;

export interface IngestOutcome extends Watched {
  row: JobRow;
  /** Null if it did not finish. */
  report: IngestReport | null;
  milliseconds: number;
}

export function ingestAsJson({ row, report, skipped, spent }: IngestOutcome) {
  const { id, state, error } = row;
  return {
    job: id,
    state,
    ...(error && { error }),
    ...report,
    proposals: report?.proposals ?? [],
    skipped: skipped.map(({ stage, item, code, message }) => ({ stage, item, code, message })),
    spent: { requests: spent.requests, cached: spent.cached, usd: spent.usd },
  };
}

/** Renders the result as text. */
export function describeIngest({ stdout }: Pick<Invocation, "stdout">, outcome: IngestOutcome): string[] {
  const { row, report, skipped, spent, milliseconds } = outcome;
  const { bold, dim, good, warn, bad, accent } = styleFor(stdout);
  const paint = row.state === "done" ? good : row.state === "partly" ? warn : bad;
  const lines = [`${paint(row.state)} ${bold("ingest")} ${dim(`in ${(milliseconds / 1_000).toFixed(1)} s`)}`];
  if (row.error) {
    const { message, fix } = row.error;
    lines.push(`  ${printable(message)}`, ...(fix ? [`  ${dim("→")} ${printable(fix)}`] : []));
  }
  const rows = report ? rowsOf(report) : [];
  if (spent.requests > 0) rows.push(["spent", describeSpent(spent)]);
  if (skipped.length > 0) rows.push(["skipped", String(skipped.length)]);
  lines.push(...table(rows.map(([what, text]) => [`  ${dim(what!)}`, text!])));
  const shown = skipped.slice(0, SKIPPED_SHOWN);
  lines.push(
    ...shown.map(({ stage, item, message }) => `    ${printable(item)} ${dim(`(${stage})`)}: ${printable(message)}`),
  );
  if (skipped.length > shown.length) {
    lines.push(`    … and ${skipped.length - shown.length} more: --json lists them all`);
  }
  for (const { id, title, accepted, open, decisions, quarantine } of report?.proposals ?? []) {
    const counts = { "changes accepted by rule": accepted, "for review": open, "questions to decide": decisions };
    lines.push(`  ${printable(title)}: ${describeCounts(counts, "no changes")}`);
    if (quarantine !== null) lines.push(`  ${warn("quarantined")} ${printable(quarantine)}`);
    if (open + decisions > 0) lines.push(`  ${dim("→")} ${accent(`tandem context proposals show ${id}`)}`);
  }
  if (report && report.proposals.length === 0) lines.push(dim("  Nothing to propose."));
  return lines;
}

function rowsOf(report: IngestReport): string[][] {
  const { sources, documents, units, candidates, reconciled, pages, tables, gates } = report;
  // Reports of 0.1.0 have none.
  const metrics = report.metrics ?? 0;
  const rows = sources.map(({ name, added, changed, renamed, deleted, unchanged }) => [
    name,
    describeCounts({ new: added, changed, moved: renamed, deleted, unchanged }, "empty"),
  ]);
  const { skip, light, full, failed, left } = documents;
  const lanes = { "skipped as irrelevant": skip, skimmed: light, "read in full": full, failed, "not processed": left };
  if (Object.values(lanes).some((count) => count > 0)) rows.push(["documents", describeCounts(lanes)]);
  // Reports of 0.1.0 have no `partly`.
  const partly = units.partly?.length ?? 0;
  if (units.done + units.budget + partly + units.failed.length > 0) {
    const counts = { done: units.done, "stopped at their budget": units.budget, partly, failed: units.failed.length };
    rows.push(["work units", describeCounts(counts)]);
  }
  if (candidates.candidates > 0) {
    const { promoted, merged, rejected, deferred } = candidates;
    rows.push([
      "candidates",
      `${candidates.candidates}: ${describeCounts({ promoted, merged, rejected, deferred }, "undecided")}`,
    ]);
  }
  const { contradictions, evicted, kept, merges } = reconciled;
  const settled = { contradictions, "pages evicted": evicted, "kept without source": kept, merges };
  if (Object.values(settled).some((count) => count > 0)) rows.push(["reconciled", describeCounts(settled)]);
  const made = {
    "new pages": pages.added,
    changed: pages.changed,
    removed: pages.removed,
    tables,
    "metrics files": metrics,
    mended: gates.mended,
  };
  if (Object.values(made).some((count) => count > 0)) rows.push(["written", describeCounts(made)]);
  return rows;
}

/** Renders planned reads, requests and cost. */
export function describeIngestPlan(
  { stdout }: Pick<Invocation, "stdout">,
  plan: IngestPlan,
  { hasModel, limit }: { hasModel: boolean; limit: { usd?: number | undefined; requests?: number | undefined } },
): string[] {
  const { bold, dim, warn } = styleFor(stdout);
  const requests = plan.requests.reduce((sum, each) => sum + each.requests, 0);
  const isOver = (plan.usd ?? 0) > (limit.usd ?? Infinity) || requests > (limit.requests ?? Infinity);
  const sources = plan.sources.map(({ name, added, changed, unchanged, renamed, deleted, ignored }) => [
    `  ${name}`,
    describeCounts(
      { new: added, changed, moved: renamed, deleted, unchanged, "unsupported file type": ignored },
      "empty",
    ),
  ]);
  const asked = plan.requests.map(({ role, model, requests, usd }) => [
    `  ${role}`,
    `about ${number(requests)} requests to ${model}${usd === null ? "" : `, $${usd.toFixed(usd < 0.1 ? 4 : 2)}`}`,
  ]);
  const price =
    plan.usd === null ? "price unknown" : `about $${plan.usd.toFixed(plan.usd < 0.1 ? 4 : 2)} at list price`;
  return [
    bold("read"),
    ...table(sources),
    `  ${describeCounts({ documents: plan.documents, characters: plan.characters }, "nothing new")}`,
    bold("ask"),
    ...(hasModel ? (asked.length > 0 ? table(asked) : ["  nothing"]) : ["  nothing: no model is set up"]),
    ...(hasModel && asked.length > 0 ? [bold("spend"), `  about ${number(requests)} requests, ${price}`] : []),
    ...(hasModel && isOver
      ? [warn("  That is above the limit (context.budget): the ingest starts only with --yes.")]
      : []),
    ...(plan.skipped.length > 0 ? [bold("skip")] : []),
    ...plan.skipped.map(({ item, message }) => `  ${printable(item)}: ${printable(message)}`),
    dim("Nothing was changed."),
  ];
}

const number = (value: number): string => value.toLocaleString("en-US");
