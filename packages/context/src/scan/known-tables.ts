import { TandemError } from "@tandem/protocol";
import { parseTableFile } from "../catalogue/parse-table-file.ts";
import type { TableFile } from "../catalogue/table-file.ts";
import { tablePath } from "../catalogue/table-path.ts";
import { describeProblem } from "../file-problem.ts";
import type { ContextFolder } from "../folder/context-folder.ts";
import type { Run } from "../runs/run.ts";
import { inParallel } from "../in-parallel.ts";

const FILES_AT_ONCE = 16;

/** A table's file as it is when a scan begins. */
export interface KnownTable {
  path: string;
  text: string;
  file: TableFile;
  /** Lines that a person wrote last. */
  hand: ReadonlySet<number>;
}

export interface KnownTables {
  byPath: ReadonlyMap<string, KnownTable>;
  /** Files that are there and cannot be read; they are listed, and left alone. */
  unreadable: ReadonlySet<string>;
}

/** What the catalogue has of a connection. What people have changed since is recorded first, so that their lines are known. */
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
      leave(new TandemError("bad_file", why, { fix: "Mend it, or remove it: the next scan writes it anew." }));
    }
  });
  return { byPath, unreadable };
}
