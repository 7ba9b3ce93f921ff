import type { Invocation } from "../invocation.ts";
import { printable, styleFor, table } from "../terminal.ts";
import type { JobState } from "./run-context-job.ts";
import { describeCounts, describeSpent } from "./run-view.ts";
import type { Watched } from "./watch-job.ts";

export const MAX_SHOWN = 20;

interface Proposed {
  id: string;
  title: string;
  accepted: number;
  open: number;
  decisions?: number;
  quarantine?: string | null;
}

export interface JobOutcome<Result extends { proposals: Proposed[] }> extends Watched {
  row: JobState;
  /** Null if it did not finish. */
  result: Result | null;
  milliseconds: number;
}

/** `fields` are those of the job's kind. */
export function jobAsJson<Fields extends object | null>(
  { row: { id, state, error }, result, skipped, spent }: JobOutcome<{ proposals: Proposed[] }>,
  fields: Fields,
) {
  return {
    job: id,
    state,
    ...(error && { error }),
    ...fields,
    proposals: result?.proposals ?? [],
    skipped: skipped.map(({ stage, item, code, message }) => ({ stage, item, code, message })),
    spent: { requests: spent.requests, cached: spent.cached, usd: spent.usd },
  };
}

/** Renders the result of a job as text. `rows` and `notes` are those of its kind. */
export function describeJob(
  { stdout }: Pick<Invocation, "stdout">,
  name: string,
  { row, result, skipped, spent, milliseconds }: JobOutcome<{ proposals: Proposed[] }>,
  { rows, notes = [], none }: { rows: readonly string[][]; notes?: readonly string[]; none: string },
): string[] {
  const { bold, dim, good, warn, bad, accent } = styleFor(stdout);
  const paint = row.state === "done" ? good : row.state === "partly" ? warn : bad;
  const lines = [`${paint(row.state)} ${bold(name)} ${dim(`in ${(milliseconds / 1_000).toFixed(1)} s`)}`];
  if (row.error) {
    const { message, fix } = row.error;
    lines.push(`  ${printable(message)}`, ...(fix ? [`  ${dim("→")} ${printable(fix)}`] : []));
  }
  const cells = [...rows];
  if (spent.requests > 0) cells.push(["spent", describeSpent(spent)]);
  if (skipped.length > 0) cells.push(["skipped", String(skipped.length)]);
  lines.push(...table(cells.map(([what, text]) => [`  ${dim(what!)}`, text!])), ...notes);
  const shown = skipped.slice(0, MAX_SHOWN);
  lines.push(
    ...shown.map(({ stage, item, message }) => `    ${printable(item)} ${dim(`(${stage})`)}: ${printable(message)}`),
  );
  if (skipped.length > shown.length) {
    lines.push(`    … and ${skipped.length - shown.length} more: --json lists them all`);
  }
  for (const { id, title, accepted, open, decisions = 0, quarantine = null } of result?.proposals ?? []) {
    const counts = { "changes accepted by rule": accepted, "for review": open, "questions to decide": decisions };
    lines.push(`  ${printable(title)}: ${describeCounts(counts, "no changes")}`);
    if (quarantine !== null) lines.push(`  ${warn("quarantined")} ${printable(quarantine)}`);
    if (open + decisions > 0) lines.push(`  ${dim("→")} ${accent(`tandem context proposals show ${id}`)}`);
  }
  if (result?.proposals.length === 0) lines.push(dim(`  ${none}`));
  return lines;
}

/** `$1.20`, with more digits for small amounts. */
export const dollars = (usd: number): string => `$${usd.toFixed(usd < 0.1 ? 4 : 2)}`;

export const priceText = (usd: number | null): string =>
  usd === null ? "price unknown" : `about ${dollars(usd)} at list price`;
