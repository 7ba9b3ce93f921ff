import { TandemError } from "@tandem/protocol";
import { decodeText } from "../decode-text.ts";
import { type SourceEntry, textItem } from "../source.ts";
import { type FileRules, walkFiles } from "../walk-files.ts";
import { HISTORY, QueryHistory } from "./query-history.ts";

const isHistory = (path: string): boolean => /\.(csv|jsonl|ndjson)$/i.test(path);

/** One item per SQL file; all query history exports together give one item per table. */
export async function* listSqlFolder(
  folder: string,
  rules: FileRules,
  signal?: AbortSignal,
): AsyncGenerator<SourceEntry> {
  const history = new QueryHistory();
  const reads = (path: string) => isHistory(path) || rules.reads(path);
  for await (const entry of walkFiles(folder, { ...rules, reads }, signal)) {
    if (entry.type !== "item" || !isHistory(entry.item.path)) {
      yield entry;
      continue;
    }
    const { path } = entry.item;
    try {
      await history.add(path, decodeText(await entry.item.read(), path));
    } catch (error) {
      if (!(error instanceof TandemError)) throw error;
      yield { type: "skipped", path, error, hides: HISTORY };
    }
  }
  for (const { path, title, markdown } of history.documents()) yield textItem(path, title, markdown);
}
