import type { PrivacyReport, ScanPlan, ScanResult } from "@tandem/context";
import type { JobRow } from "@tandem/storage";
import type { Invocation } from "../invocation.ts";
import { printable, styleFor, table } from "../terminal.ts";
import { describeCounts, describeSpent } from "./run-view.ts";
import type { Watched } from "./watch-job.ts";

const SKIPPED_SHOWN = 20;

/** The result of scanning one connection. */
export interface ScanOutcome extends Watched {
  row: JobRow;
  /** Null if it did not finish. */
  result: ScanResult | null;
  milliseconds: number;
}

export type PricedPlan = ScanPlan & { usd: number | null };

export function scanAsJson(connection: string, { row, result, skipped, spent }: ScanOutcome) {
  const { id, state, error } = row;
  return {
    connection,
    job: id,
    state,
    ...(error && { error }),
    ...(result && { tables: result.tables, descriptions: result.descriptions, joins: result.joins }),
    ...(result?.privacy && { privacy: result.privacy }),
    ...(result?.brokenMetrics && { brokenMetrics: result.brokenMetrics }),
    proposals: result?.proposals ?? [],
    skipped: skipped.map(({ stage, item, code, message }) => ({ stage, item, code, message })),
    spent: { requests: spent.requests, cached: spent.cached, usd: spent.usd },
  };
}

/** Renders the result as text. */
export function describeScan({ stdout }: Pick<Invocation, "stdout">, name: string, outcome: ScanOutcome): string[] {
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
      const counts = { described, unchanged: cached, incomplete, "answers about missing tables": unknown };
      rows.push(["descriptions", describeCounts(counts, "none wanted")]);
    }
    if (result.joins) {
      const { accepted, review } = result.joins;
      rows.push(["joins", describeCounts({ certain: accepted, "for review": review }, "none")]);
    }
  }
  const privacy = result?.privacy;
  if (privacy && privacy.configured > 0)
    rows.push(["withheld", `values of ${privacy.configured} columns (scan.samples)`]);
  if (privacy && privacy.personal.length > 0)
    rows.push(["personal", `${privacy.personal.length} columns, stored as shapes`]);
  if (spent.requests > 0) rows.push(["spent", describeSpent(spent)]);
  if (skipped.length > 0) rows.push(["skipped", String(skipped.length)]);
  lines.push(...table(rows.map(([what, text]) => [`  ${dim(what!)}`, text!])));
  for (const { name: metric, path, message, fix } of result?.brokenMetrics ?? []) {
    lines.push(`  ${bad("broken metric")} ${bold(metric)} ${dim(path)}: ${printable(message)}`);
    if (fix !== undefined) lines.push(`    ${dim("→")} ${printable(fix)}`);
  }
  if (privacy) lines.push(...describePrivacy(name, privacy).map((line) => `    ${line}`));
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
    if (open > 0) lines.push(`  ${dim("→")} ${accent(`tandem context proposals show ${id}`)}`);
  }
  if (result && result.proposals.length === 0) lines.push(dim("  Nothing to propose: the catalogue is up to date."));
  return lines;
}

/** Names the columns whose values are not stored, and how to allow them. */
function describePrivacy(connection: string, { personal, unmatchedPatterns }: PrivacyReport): string[] {
  const shown = personal.slice(0, SKIPPED_SHOWN);
  const [first] = shown;
  return [
    ...shown.map(({ column, kind }) => printable(`${column}: ${kind}`)),
    ...(personal.length > shown.length ? [`… and ${personal.length - shown.length} more: --json lists them all`] : []),
    ...(first
      ? [printable(`To store values after all, set scan.samples: { "${connection}/${first.column}": values }`)]
      : []),
    ...unmatchedPatterns.map((pattern) => printable(`scan.samples: ${pattern} matches no column. Check its spelling.`)),
  ];
}

/** Renders planned reads, requests and cost. */
export function describePlans(
  { stdout }: Pick<Invocation, "stdout">,
  plans: readonly PricedPlan[],
  hasModel: boolean,
): string[] {
  const { bold, dim } = styleFor(stdout);
  const lines = plans.flatMap(({ connection, tables, views, rows, queries, toDescribe, requests, usd }) => {
    const asked = requests.descriptions + requests.joins;
    const read = describeCounts({ tables, views, "rows (estimated), partly sampled": rows ?? 0 });
    const price = usd === null ? "price unknown" : `about $${usd.toFixed(usd < 0.1 ? 4 : 2)} at list price`;
    const cells = [
      ["read", `${read}; about ${number(queries)} queries`],
      [
        "ask",
        hasModel
          ? `${number(asked)} requests at most: ${number(toDescribe)} tables to describe, and joins`
          : "nothing: no model is set up",
      ],
      ...(asked > 0 ? [["spend", price]] : []),
    ];
    return [bold(connection), ...table(cells.map(([what, text]) => [`  ${dim(what!)}`, text!]))];
  });
  return [...lines, dim("Nothing was changed.")];
}

const number = (value: number): string => value.toLocaleString("en-US");
