import { TandemError } from "@tandem/protocol";
import { canonicalJson } from "@tandem/protocol";
import { editYaml } from "@tandem/workspace";
import { describeProblem } from "../formats/file-problem.ts";
import type { Draft } from "../draft.ts";
import { type Shape, syncDocument } from "../formats/sync-yaml.ts";
import { OwnedText } from "./owned-text.ts";
import { joinEntry, parseTableFile, type TableFile } from "./table-file.ts";
import { tablePath } from "./table-path.ts";
import { tableSupport } from "./table-support.ts";
import { joinKey } from "./table-values.ts";
import { type FoundTable, wantedTable } from "./wanted-table.ts";

/**
 * The database's text before the model's: the key's line belongs to the first field, which must be acceptable on its
 * own.
 */
const DESCRIPTIONS: Shape = { order: ["human", "db", "ai", "aiFor"] };
const COLUMN: Shape = {
  order: ["name", "type", "nullable", "labels", "gone", "descriptions", "profile"],
  maps: {
    descriptions: DESCRIPTIONS,
    profile: {
      order: "nulls distinct distinctIs min max samples samplesAre stored personal shapes lengths".split(" "),
    },
  },
};
const JOIN: Shape = {
  order: ["columns", "to", "toColumns", "cardinality", "origin", "confidence", "evidence", "when", "why"],
};
export const TABLE: Shape = {
  order:
    "connection schema table type gone descriptions rows rowsAre profiled primaryKey uniqueKeys verifiedKeys checks columns joins notes".split(
      " ",
    ),
  maps: { descriptions: DESCRIPTIONS },
  lists: {
    columns: { shape: COLUMN, keyOf: ({ name }) => String(name) },
    joins: { shape: JOIN, keyOf: (entry) => joinKey(joinEntry.parse(entry)) },
  },
};

/**
 * Computes a table's current file. A person's text is never changed or removed: in `human`, in `notes`, or where they
 * edited a model's text (`hand`: lines last written by people, see `ContextFolder.handLines`). Pass the parsed file if
 * it is already known.
 */
export function updateTableFile(
  found: FoundTable,
  existing: string | null,
  hand: ReadonlySet<number> = new Set(),
  read?: TableFile,
): Draft {
  const { connection, table } = found;
  const path = found.path ?? tablePath({ connection, schema: table.schema, table: table.name });
  const current = existing === null ? undefined : (read ?? readCurrent(path, existing));
  const wanted = wantedTable(found, current, new OwnedText(existing, current, hand));
  if (canonicalJson(wanted) === canonicalJson(current ?? null))
    return { path, before: existing, after: existing, support: [] };
  const after = editYaml(existing ?? "", (document) => syncDocument(document, wanted, TABLE));
  return { path, before: existing, after, ...tableSupport(found, existing, after, wanted) };
}

/** For a dropped table: deletes its file, unless a person has written in it. */
export function removeTableFile(existing: string, hand: ReadonlySet<number> = new Set(), path?: string): Draft {
  const current = readCurrent("A table's file", existing);
  const { connection, schema, table } = current;
  const isKept = new OwnedText(existing, current, hand).isAnywhere();
  const after = isKept
    ? editYaml(existing, (document) => syncDocument(document, { ...current, gone: true }, TABLE))
    : null;
  const finding = "the database does not have it any more";
  const evidence = [{ type: "database" as const, connection, table: `${schema}.${table}`, finding }];
  const whole = [{ from: 1, to: Infinity, aspect: "structure" as const, evidence }];
  return { path: path ?? tablePath(current), before: existing, after, support: whole, removal: whole };
}

function readCurrent(path: string, text: string): TableFile {
  const parsed = parseTableFile(text);
  if (parsed.success) return parsed.table;
  throw new TandemError("bad_file", `${path} cannot be read. ${describeProblem(parsed.problems[0]!)}`, {
    fix: "Fix the file, or remove it: the next scan writes it again.",
  });
}
