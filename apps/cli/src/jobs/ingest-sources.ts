import type { Source } from "@tandem/context";
import { nearest, TandemError } from "@tandem/protocol";
import { createHash } from "node:crypto";
import { resolve } from "node:path";
import { loadContext } from "../compose.ts";
import type { Project } from "../config/load-project.ts";

export interface WantedSources {
  /** By name; all that the config has where none is given, unless there are texts or files. */
  names: readonly string[];
  text?: string;
  /** Relative to where the command was started. */
  files?: readonly string[];
}

/** What an ingest reads, and what its job is known by. */
export async function ingestSources(
  { config, folder, shownFile }: Project,
  { names, text, files = [] }: WantedSources,
): Promise<{ sources: Source[]; params: object }> {
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
  return {
    sources: [
      ...chosen.map((name) => room.openSource(name, configured[name]!, { root: folder, maxFileMb })),
      ...(paths.length > 0 ? [filesSource(room, paths, maxFileMb)] : []),
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

/** Single files. Others that were given before are still good, so nothing is deleted by their absence. */
function filesSource(
  room: Awaited<ReturnType<typeof loadContext>>,
  paths: readonly string[],
  maxFileMb: number,
): Source {
  const each = paths.map((path) =>
    room.openSource("files", { type: path.endsWith(".sql") ? "sql" : "folder", path }, { root: "/", maxFileMb }),
  );
  return {
    name: "files",
    type: "folder",
    lists: "some",
    async *list(options) {
      for (const source of each) yield* source.list(options);
    },
  };
}
