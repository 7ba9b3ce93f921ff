import type { PrivacyReport, ScanResult } from "@tandem/protocol";
import type { PricedPlan } from "@tandem/tandem/context";
import type { Invocation } from "../invocation.ts";
import { printable, styleFor, table } from "../terminal.ts";
import { describeJob, jobAsJson, MAX_SHOWN, priceText, type JobOutcome } from "./describe-job.ts";
import { describeCounts } from "./run-view.ts";

export const scanAsJson = (connection: string, outcome: JobOutcome<ScanResult>) => {
  const { tables, descriptions, joins, privacy, brokenMetrics } = outcome.result ?? {};
  return {
    connection,
    ...jobAsJson(outcome, {
      ...(outcome.result && { tables, descriptions, joins }),
      ...(privacy && { privacy }),
      ...(brokenMetrics && { brokenMetrics }),
    }),
  };
};

/** Renders the result as text. */
export function describeScan(
  invocation: Pick<Invocation, "stdout">,
  name: string,
  outcome: JobOutcome<ScanResult>,
): string[] {
  const { bold, dim, bad } = styleFor(invocation.stdout);
  const { result } = outcome;
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
  const broken = (result?.brokenMetrics ?? []).flatMap(({ name: metric, path, message, fix }) => [
    `  ${bad("broken metric")} ${bold(metric)} ${dim(path)}: ${printable(message)}`,
    ...(fix === undefined ? [] : [`    ${dim("→")} ${printable(fix)}`]),
  ]);
  const notes = [...broken, ...(privacy ? describePrivacy(name, privacy).map((line) => `    ${line}`) : [])];
  return describeJob(invocation, name, outcome, {
    rows,
    notes,
    none: "Nothing to propose: the catalogue is up to date.",
  });
}

/** Names the columns whose values are not stored, and how to allow them. */
function describePrivacy(connection: string, { personal, unmatchedPatterns }: PrivacyReport): string[] {
  const shown = personal.slice(0, MAX_SHOWN);
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
    const cells = [
      ["read", `${read}; about ${number(queries)} queries`],
      [
        "ask",
        hasModel
          ? `${number(asked)} requests at most: ${number(toDescribe)} tables to describe, and joins`
          : "nothing: no model is set up",
      ],
      ...(asked > 0 ? [["spend", priceText(usd)]] : []),
    ];
    return [bold(connection), ...table(cells.map(([what, text]) => [`  ${dim(what!)}`, text!]))];
  });
  return [...lines, dim("Nothing was changed.")];
}

const number = (value: number): string => value.toLocaleString("en-US");
