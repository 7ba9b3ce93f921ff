import type { Relationship } from "@tandem/relationships";
import type { Evidence } from "../evidence.ts";
import type { Support } from "../draft.ts";
import { heldFields } from "./held-fields.ts";
import type { TableFile } from "./table-file.ts";
import { type FieldLines, tableLines } from "./table-lines.ts";
import { joinKey, newJoinEntry } from "./table-values.ts";
import type { FoundTable } from "./wanted-table.ts";

/** The evidence for each line of a table's file, before and after a change. */
export function tableSupport(
  found: FoundTable,
  before: string | null,
  after: string,
  wanted: TableFile,
): { support: Support[]; removal: Support[] } {
  const held = heldFields(wanted, after);
  return {
    support: supportOf(found, after, (key) => joinEvidence(found, key), held),
    removal: before === null ? [] : supportOf(found, before, () => goneJoin(found)),
  };
}

function supportOf(
  found: FoundTable,
  text: string,
  joinSupport: (key: string) => Omit<Support, "from" | "to">,
  heldBy: (field: FieldLines) => string | undefined = () => undefined,
): Support[] {
  return tableLines(text).flatMap((field): Support[] => {
    const { from, to, aspect, join } = field;
    if (aspect === "own") return [];
    const held = heldBy(field);
    if (aspect !== "join") return [{ from, to, aspect, evidence: evidenceOf(found, field), held }];
    return join === undefined ? [] : [{ from, to, ...joinSupport(join), held }];
  });
}

function evidenceOf(found: FoundTable, { aspect, column, isAi }: FieldLines): Evidence[] {
  const { profile, model } = found;
  const finding = {
    structure: "as the database has it",
    profile: `seen in ${profile?.sampled ?? 0} of ${profile?.rows ?? 0} rows`,
    description: "its columns, types and sampled values",
  }[aspect as "structure" | "profile" | "description"];
  const seen = seenIn(found, finding, column);
  return isAi || aspect === "description"
    ? [seen, { type: "model", model: model ?? "unknown", role: "candidateExtraction" }]
    : [seen];
}

function joinEvidence(found: FoundTable, key: string): Omit<Support, "from" | "to"> {
  const relationship = found.joins?.find((candidate) => joinKey(newJoinEntry(candidate)) === key);
  // This join was not part of the scan, so its lines are unchanged.
  if (!relationship) return { aspect: "join", evidence: [] };
  const { origin, status, from } = relationship;
  const evidence: Evidence[] = [seenIn(found, describeFinding(relationship), from.columns.join(", "))];
  if (origin === "model")
    evidence.push({ type: "model", model: found.model ?? "unknown", role: "candidateExtraction" });
  // Declared foreign keys are structure.
  return { aspect: origin === "declared" ? "structure" : "join", evidence, certain: status === "accepted" };
}

const goneJoin = (found: FoundTable): Omit<Support, "from" | "to"> => ({
  aspect: "join",
  evidence: [seenIn(found, "not found any more")],
});

function describeFinding({ origin, evidence, why }: Relationship): string {
  if (origin === "declared") return "declared foreign key";
  const measured = evidence ? `${evidence.found} of ${evidence.checked} values found` : "";
  return [measured, why.join(" ")].filter(Boolean).join("; ");
}

const seenIn = ({ connection, table }: FoundTable, finding: string, column?: string): Evidence => ({
  type: "database",
  connection,
  table: `${table.schema}.${table.name}`,
  ...(column !== undefined && { column }),
  finding,
});
