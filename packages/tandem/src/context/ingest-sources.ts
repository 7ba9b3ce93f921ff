import type { Source } from "@tandem/context";
import { nearest, TandemError } from "@tandem/protocol";
import { createHash } from "node:crypto";
import { basename, isAbsolute, join, relative, resolve, sep } from "node:path";
import { loadContext } from "../compose.ts";
import type { Project } from "../config/load-project.ts";

/** Documents that are not in the config: a text, and files by their absolute paths. */
export interface GivenDocuments {
  text?: string | undefined;
  files?: readonly string[] | undefined;
}

export interface WantedSources extends GivenDocuments {
  /** By name; all that the config has where none is given, unless there are texts or files. */
  names: readonly string[];
}

/** What an ingest reads, and what its job is known by. */
export async function ingestSources(
  { config, folder, shownFile }: Project,
  { names, text, files = [] }: WantedSources,
): Promise<{ sources: Source[]; params: Record<string, unknown> }> {
  const { sources: configured, maxFileMb } = config.ingest;
  const known = Object.keys(configured);
  const given = text !== undefined || files.length > 0;
  for (const name of names) {
    if (known.includes(name)) continue;
    const meant = nearest(name, known);
    throw new TandemError("not_found", `${shownFile} has no source ${name}.`, {
      fix: meant ? `Did you mean ${meant}?` : known.length > 0 ? `There are: ${known.join(", ")}.` : ADD_ONE,
    });
  }
  const chosen = names.length > 0 || given ? [...new Set(names)] : known;
  if (chosen.length === 0 && !given) {
    throw new TandemError("not_found", `${shownFile} has no sources to read.`, { fix: ADD_ONE });
  }
  const room = await loadContext();
  const paths = files.map((file) => resolve(file));
  const rules = { root: folder, maxFileMb, leaveOut: resolve(folder, config.context.folder) };
  return {
    sources: [
      ...chosen.map((name) => room.openSource(name, configured[name]!, rules)),
      ...(paths.length > 0 ? [filesSource(room, paths, rules)] : []),
      ...(text === undefined ? [] : [room.textSource(text)]),
    ],
    params: {
      sources: chosen,
      ...(paths.length > 0 && { files: paths }),
      ...(text !== undefined && { text: createHash("sha256").update(text).digest("hex") }),
    },
  };
}

const ADD_ONE = 'Add one under ingest.sources, or give a text: tandem ingest --text "…"';

/**
 * Single files, each known by where it is: two of one name are two documents. Others that were given before are still good,
 * so nothing is deleted by their absence; one that cannot be read takes no other with it.
 */
function filesSource(
  room: Awaited<ReturnType<typeof loadContext>>,
  paths: readonly string[],
  { root, maxFileMb }: { root: string; maxFileMb: number },
): Source {
  const each = paths.map((path) => {
    const type = path.endsWith(".sql") ? "sql" : "folder";
    return { path, source: room.openSource("files", { type, path }, { root, maxFileMb }) };
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
            ...{ type: "skipped", path: named(basename(path)) },
            error: error.code === "source_missing" ? missing : error,
          };
        }
      }
    },
  };
}

/** Relative to the project where it is in it, with `/`. */
function placeOf(root: string, path: string): string {
  const place = relative(root, path).replaceAll(sep, "/");
  return place.startsWith("../") || isAbsolute(place) ? path.replaceAll(sep, "/") : place;
}
