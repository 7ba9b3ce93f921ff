import type { Table } from "@tandem/connectors";
import type { PrivacyReport, ScanResult } from "@tandem/protocol";
import { removeTableFile } from "../catalogue/update-table-file.ts";
import type { TableFile } from "../catalogue/table-file.ts";
import type { Draft } from "../draft.ts";
import type { Proposals } from "../proposals/proposals.ts";
import type { Run } from "../runs/job-run.ts";
import { syncSearch } from "../runs/sync-search.ts";
import { type Findings, PROPOSAL_STAGE } from "./draft-tables.ts";
import type { KnownTable } from "./known-tables.ts";
import type { ScanContext } from "./scan-context.ts";

// Lost rights, or another database at the same address, look like dropped tables.
const MANY = 4;
const SHARE_GONE_AT_ONCE = 0.5;

interface Scanned extends Omit<Findings, "pathOf" | "folder"> {
  context: ScanContext;
  tables: readonly Table[];
  drafts: AsyncIterable<Draft>;
  gone: readonly KnownTable[];
  privacy: PrivacyReport;
}

/** One proposal, plus a separate one if suspiciously many tables are gone, which no rule accepts. */
export async function proposeScan(run: Run, scanned: Scanned): Promise<ScanResult> {
  const { context, connectionName, tables, fileOf, drafts, gone, described, joins, privacy } = scanned;
  const counts = {
    seen: tables.length,
    added: tables.filter((table) => !fileOf(table)).length,
    changed: tables.filter((table) => hasChanged(table, fileOf(table)?.file)).length,
    gone: gone.length,
  };
  const of = (status: string) => joins?.relationships.filter((each) => each.status === status).length ?? 0;
  const result: ScanResult = {
    connection: connectionName,
    tables: counts,
    joins: joins ? { accepted: of("accepted"), review: of("review") } : null,
    descriptions: described?.counts ?? null,
    privacy,
    proposals: [],
  };
  const removals = gone.map(({ path, text, hand }) => removeTableFile(text, hand, path));
  const isSuspicious =
    gone.length >= MANY && gone.length > SHARE_GONE_AT_ONCE * (gone.length + tables.length - counts.added);
  const title = `Scan of ${connectionName}`;
  let held = 0;
  async function* allDrafts() {
    for await (const draft of drafts) {
      if (draft.support.some(({ held: reason }) => reason !== undefined)) held += 1;
      yield draft;
    }
    if (!isSuspicious) yield* removals;
  }
  const propose = async (input: Omit<Parameters<Proposals["propose"]>[0], "job">) => {
    const proposal = await context.proposals.propose({ job: run.job, ...input });
    if (!proposal) return;
    const { accepted, open } = proposal.counts;
    const { id } = proposal;
    result.proposals.push({ id, title: proposal.title, accepted, open });
    run.emit({ type: "proposed", proposal: id, accepted, open });
  };
  await propose({ title, summary: () => summaryOf(result, held), drafts: allDrafts() });
  if (isSuspicious) {
    await propose({
      title: `${title}: tables that are gone`,
      summary: `${gone.length} tables of the catalogue are not in the database any more.`,
      drafts: removals,
      quarantine: "Most of the tables are gone at once: the role may have lost its rights, or the address has changed.",
    });
  }
  const sum = (of: "accepted" | "open") => result.proposals.reduce((total, each) => total + each[of], 0);
  const counted = { accepted: sum("accepted"), "for review": sum("open") };
  run.emit({ type: "stage_finished", stage: PROPOSAL_STAGE, counts: counted });
  if (counted.accepted > 0) await syncSearch(run, context.search, connectionName);
  return result;
}

function summaryOf({ tables, joins, descriptions, privacy }: ScanResult, held: number): string {
  const parts = [
    `${tables.seen} tables: ${tables.added} new, ${tables.changed} changed, ${tables.gone} gone`,
    ...(descriptions ? [`${descriptions.described + descriptions.cached} described`] : []),
    ...(joins ? [`${joins.accepted} joins, ${joins.review} more for review`] : []),
    ...(privacy && privacy.personal.length > 0
      ? [`${privacy.personal.length} columns with likely personal data, stored as shapes`]
      : []),
    ...(held > 0 ? [`text that may be meant for a model is held for review in ${held} of the files`] : []),
  ];
  return `${parts.join("; ")}.`;
}

/** Whether columns or keys differ from the file. */
function hasChanged(table: Table, file: TableFile | undefined): boolean {
  if (!file) return false;
  const before = file.columns
    .filter(({ gone }) => !gone)
    .map(({ name, type, nullable }) => [name, type, nullable ?? false]);
  const now = table.columns.map(({ name, type, nullable }) => [name, type, nullable]);
  const sorted = (columns: readonly (readonly unknown[])[]) =>
    columns.map((column) => JSON.stringify(column)).toSorted();
  return (
    JSON.stringify(sorted(before)) !== JSON.stringify(sorted(now)) ||
    JSON.stringify(file.primaryKey ?? []) !== JSON.stringify(table.primaryKey)
  );
}
