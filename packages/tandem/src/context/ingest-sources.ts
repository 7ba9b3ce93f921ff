import type { Source, SourceAccess } from "@tandem/context";
import { nearest, TandemError } from "@tandem/protocol";
import { createHash } from "node:crypto";
import { basename, isAbsolute, join, relative, resolve, sep } from "node:path";
import { loadContext } from "../compose.ts";
import type { Project } from "../config/load-project.ts";

/** Documents that are not in the config: a text, and files with absolute paths. */
export interface GivenDocuments {
  text?: string | undefined;
  files?: readonly string[] | undefined;
}

export interface WantedSources extends GivenDocuments {
  /** Source names. If empty, all configured sources, unless texts or files are given. */
  names: readonly string[];
}

/** Resolves the sources of an ingest and the key of its job. */
export async function ingestSources(
  { config, folder, displayPath }: Project,
  { names, text, files = [] }: WantedSources,
  access?: SourceAccess,
): Promise<{ sources: Source[]; params: Record<string, unknown> }> {
  const { sources: configured, maxFileMb } = config.ingest;
  const known = Object.keys(configured);
  const given = text !== undefined || files.length > 0;
  for (const name of names) {
    if (known.includes(name)) continue;
    const meant = nearest(name, known);
    throw new TandemError("not_found", `${displayPath} has no source ${name}.`, {
      fix: meant ? `Did you mean ${meant}?` : known.length > 0 ? `Use one of ${known.join(", ")}.` : ADD_ONE,
    });
  }
  const chosen = names.length > 0 || given ? [...new Set(names)] : known;
  if (chosen.length === 0 && !given) {
    throw new TandemError("not_found", `${displayPath} has no sources.`, { fix: ADD_ONE });
  }
  const library = await loadContext();
  const paths = files.map((file) => resolve(file));
  const rules = { root: folder, maxFileMb, leaveOut: resolve(folder, config.context.folder), access };
  return {
    sources: [
      ...chosen.map((name) => library.openSource(name, configured[name]!, rules)),
      ...(paths.length > 0 ? [filesSource(library, paths, rules)] : []),
      ...(text === undefined ? [] : [library.textSource(text)]),
    ],
    params: {
      sources: chosen,
      ...(paths.length > 0 && { files: paths }),
      ...(text !== undefined && { text: createHash("sha256").update(text).digest("hex") }),
    },
  };
}

const ADD_ONE = 'Add one under ingest.sources, or give a text: tandem context ingest --text "…"';

/**
 * Single files, identified by path, so that two files of one name are two documents. A missing file does not delete its pages,
 * and an unreadable file does not fail the others.
 */
function filesSource(
  library: Awaited<ReturnType<typeof loadContext>>,
  paths: readonly string[],
  { root, maxFileMb }: { root: string; maxFileMb: number },
): Source {
  const each = paths.map((path) => {
    const type = path.endsWith(".sql") ? "sql" : "folder";
    return { path, source: library.openSource("files", { type, path }, { root, maxFileMb }) };
  });
  return {
    name: "files",
    type: "folder",
    lists: "some",
    async *list(options) {
      for (const { path, source } of each) {
        const named = (name: string) => placeOf(root, name === basename(path) ? path : join(path, name));
        try {
          for await (const entry of source.list(options)) {
            if (entry.type === "item") yield { ...entry, item: { ...entry.item, path: named(entry.item.path) } };
            else yield { ...entry, path: named(entry.path) };
          }
        } catch (error) {
          if (!(error instanceof TandemError)) throw error;
          const missing = new TandemError("source_missing", `${path} cannot be read.`, { fix: "Check its path." });
          yield {
            type: "skipped",
            path: named(basename(path)),
            error: error.code === "source_missing" ? missing : error,
          };
        }
      }
    },
  };
}

/** The path relative to the project if it is inside, with `/` as separator. */
function placeOf(root: string, path: string): string {
  const place = relative(root, path).replaceAll(sep, "/");
  return place.startsWith("../") || isAbsolute(place) ? path.replaceAll(sep, "/") : place;
}
