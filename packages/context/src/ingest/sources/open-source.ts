import { resolve } from "node:path";
import { TandemError, type Config } from "@tandem/protocol";
import { listDbtProject } from "./dbt/list-dbt-project.ts";
import { isShownCopy } from "./notion.ts";
import { isDocument } from "./read-document.ts";
import type { Source, SourceEntry } from "./source.ts";
import { listSqlFolder } from "./sql/list-sql-folder.ts";
import { walkFiles, type FileRules } from "./walk-files.ts";

export type SourceConfig = Config["ingest"]["sources"][string];

/** Opens a source of tandem.yaml. `root` is the folder of that file; `leaveOut` is the context's folder. */
export function openSource(
  name: string,
  config: SourceConfig,
  { root, maxFileMb, leaveOut }: { root: string; maxFileMb: number; leaveOut?: string },
): Source {
  const { type, include, exclude, connection } = config;
  const path = resolve(root, config.path);
  const rules: FileRules = {
    maxBytes: maxFileMb * 1024 * 1024,
    include,
    exclude,
    leaveOut,
    reads: (file) => isDocument(type, file),
  };
  return {
    name,
    type,
    lists: "all",
    ...(connection && { connection }),
    list({ signal } = {}) {
      if (/\.(zip|tar|tgz|gz)$/i.test(path)) throw packed(path);
      switch (type) {
        case "folder":
          return walkFiles(path, rules, signal);
        case "notion":
          return listNotion(path, rules, signal);
        case "confluence":
          return walkFiles(path, { ...rules, reads: (file) => rules.reads(file) && !isIndex(file) }, signal);
        case "sql":
          return listSqlFolder(path, rules, signal);
        case "dbt":
          return listDbtProject(path, rules, signal);
      }
    },
  };
}

/** The index of an export is navigation, not a page. */
const isIndex = (path: string): boolean => /(^|\/)index\.html?$/i.test(path);

async function* listNotion(path: string, rules: FileRules, signal?: AbortSignal): AsyncGenerator<SourceEntry> {
  const entries: SourceEntry[] = [];
  for await (const entry of walkFiles(path, rules, signal)) entries.push(entry);
  const paths = new Set(entries.map((entry) => (entry.type === "item" ? entry.item.path : entry.path)));
  for (const entry of entries) {
    if (entry.type === "item" && isShownCopy(entry.item.path, paths)) yield { type: "ignored", path: entry.item.path };
    else yield entry;
  }
}

const packed = (path: string): TandemError =>
  new TandemError("packed", `${path} is a packed export.`, {
    fix: "Unpack it into a folder, and name that folder as the source's `path`.",
  });
