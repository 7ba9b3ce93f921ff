import { relative, resolve } from "node:path";
import type { Connection } from "@tandem/connectors";
import { TandemError, type Config } from "@tandem/protocol";
import { listDbtProject } from "./dbt/list-dbt-project.ts";
import { isShownCopy } from "./notion.ts";
import { isDocument } from "./read-document.ts";
import { type Source, type SourceEntry, textItem } from "./source.ts";
import { listLiveHistory } from "./sql/list-live-history.ts";
import { walkFiles, type FileRules } from "./walk-files.ts";
import { decodeText } from "./decode-text.ts";
import { HISTORY, QueryHistory } from "./sql/query-history.ts";

export type SourceConfig = Config["ingest"]["sources"][string];

/** Ways to sources that are not folders. */
export interface SourceAccess {
  connect: (connection: string) => Promise<Connection>;
  /** Returns the folder with the current content of a repository. */
  checkout: (source: Pick<SourceConfig, "git" | "branch" | "token">, signal?: AbortSignal) => Promise<string>;
}

export interface SourceRules {
  /** The folder of tandem.yaml. */
  root: string;
  maxFileMb: number;
  /** The context's folder. */
  leaveOut?: string;
  access?: SourceAccess;
}

/** Opens a source of tandem.yaml. */
export function openSource(name: string, config: SourceConfig, rules: SourceRules): Source {
  const { type, connection } = config;
  const { root, access } = rules;
  const list = (signal: AbortSignal | undefined): AsyncIterable<SourceEntry> => {
    if (type === "queries") return listQueries(connection!, requireAccess(access), signal);
    if (config.git !== undefined) return listRepository(config, rules, requireAccess(access), signal);
    return listFolder(config, resolve(root, config.path!), rules, signal);
  };
  return {
    name,
    type,
    // The server forgets queries at a restart; that deletes no knowledge.
    lists: type === "queries" ? "some" : "all",
    ...(connection && { connection }),
    list: ({ signal } = {}) => list(signal),
  };
}

function requireAccess(access: SourceAccess | undefined): SourceAccess {
  if (access) return access;
  throw new TandemError("not_supported", "This source needs a database or a repository, which are not available here.");
}

async function* listQueries(
  connection: string,
  { connect }: SourceAccess,
  signal: AbortSignal | undefined,
): AsyncGenerator<SourceEntry> {
  await using opened = await connect(connection);
  yield* listLiveHistory(connection, opened, signal);
}

async function* listRepository(
  config: SourceConfig,
  rules: SourceRules,
  { checkout }: SourceAccess,
  signal: AbortSignal | undefined,
): AsyncGenerator<SourceEntry> {
  const folder = await checkout(config, signal);
  const path = resolve(folder, config.path ?? ".");
  if (relative(folder, path).startsWith("..")) {
    throw new TandemError("config_invalid", `${config.path} is not inside the repository.`, {
      fix: "Give the source's `path` relative to the repository.",
    });
  }
  yield* listFolder({ ...config, exclude: [...(config.exclude ?? []), ".git/**"] }, path, rules, signal);
}

function listFolder(
  { type, include, exclude }: SourceConfig,
  path: string,
  { maxFileMb, leaveOut }: SourceRules,
  signal: AbortSignal | undefined,
): AsyncIterable<SourceEntry> {
  if (/\.(zip|tar|tgz|gz)$/i.test(path)) throw packed(path);
  const rules: FileRules = {
    maxBytes: maxFileMb * 1024 * 1024,
    include,
    exclude,
    leaveOut,
    reads: (file) => isDocument(type, file),
  };
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
    case "queries":
      throw new TandemError("config_invalid", "A source of queries has no path.");
  }
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

const isHistory = (path: string): boolean => /\.(csv|jsonl|ndjson)$/i.test(path);

/** One item per SQL file; all query history exports together give one item per table. */
async function* listSqlFolder(folder: string, rules: FileRules, signal?: AbortSignal): AsyncGenerator<SourceEntry> {
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
