import type { TableName } from "@tandem/connectors";
import { inParallel, TandemError } from "@tandem/protocol";
import { parseTableFile, type TableFile } from "../catalogue/table-file.ts";
import { distinctTablePath, foldedPath, tablePath } from "../catalogue/table-path.ts";
import { describeProblem } from "../formats/file-problem.ts";
import type { ContextFolder } from "../folder/context-folder.ts";
import type { Run } from "../runs/job-run.ts";
import { tableKey } from "../privacy/scanned-table.ts";

const FILES_AT_ONCE = 16;

/** A table's file at the start of a scan. */
export interface KnownTable {
  path: string;
  text: string;
  file: TableFile;
  /** Lines last written by a person. */
  hand: ReadonlySet<number>;
}

export interface KnownTables {
  byPath: ReadonlyMap<string, KnownTable>;
  /** Unreadable files; listed, and left alone. */
  unreadable: ReadonlySet<string>;
}

/**
 * Paths of table files: existing ones stay wherever they are; a new one gets its plain path, unless it would collide
 * with another on a case-insensitive disk.
 */
export function pathsOfTables(
  connection: string,
  tables: readonly TableName[],
  { byPath }: Pick<KnownTables, "byPath">,
): (table: TableName) => string {
  const paths = new Map<string, string>();
  const taken = new Set<string>();
  for (const { path, file } of byPath.values()) {
    taken.add(foldedPath(path));
    // Ignore a copied file under another name.
    const { schema, table } = file;
    const isOwn = [tablePath, distinctTablePath].some((place) => place({ connection, schema, table }) === path);
    if (isOwn) paths.set(tableKey({ schema, name: table }), path);
  }
  for (const table of tables) {
    if (paths.has(tableKey(table))) continue;
    const identity = { connection, schema: table.schema, table: table.name };
    const plain = tablePath(identity);
    const path = taken.has(foldedPath(plain)) && !byPath.has(plain) ? distinctTablePath(identity) : plain;
    paths.set(tableKey(table), path);
    taken.add(foldedPath(path));
  }
  return (table) => paths.get(tableKey(table)) ?? tablePath({ connection, schema: table.schema, table: table.name });
}

/** The existing catalogue of a connection. Commits people's changes first, so that their lines are known. */
export async function knownTables(
  run: Pick<Run, "signal" | "skip">,
  folder: ContextFolder,
  connection: string,
): Promise<KnownTables> {
  await folder.head();
  const anyPath = tablePath({ connection, schema: "any", table: "any" });
  const paths = (await folder.list(anyPath.slice(0, anyPath.lastIndexOf("/") + 1))).filter((path) =>
    path.endsWith(".yaml"),
  );
  const hand = await folder.handLines(paths);
  const byPath = new Map<string, KnownTable>();
  const unreadable = new Set<string>();
  await inParallel(paths, FILES_AT_ONCE, async (path) => {
    run.signal.throwIfAborted();
    const leave = (problem: TandemError) => {
      unreadable.add(path);
      run.skip("structure", path, problem);
    };
    const text = await folder.read(path).catch((error: unknown) => {
      if (error instanceof TandemError && error.code !== "unavailable") return leave(error);
      throw error;
    });
    if (typeof text !== "string") return;
    const parsed = parseTableFile(text);
    if (parsed.success) byPath.set(path, { path, text, file: parsed.table, hand: hand.get(path) ?? new Set() });
    else {
      const why = `The file cannot be read. ${describeProblem(parsed.problems[0]!)}`;
      leave(new TandemError("bad_file", why, { fix: "Fix it, or remove it: the next scan writes it again." }));
    }
  });
  return { byPath, unreadable };
}
