import { rewriteSqlite } from "@tandem/storage";
import { renameMovedStores } from "@tandem/workspace";
import { mkdir, readFile, realpath, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { relocateText, relocateTime, type Relocation } from "./relocation.ts";
import { unpackArchive, writeFiles } from "./seed-archive.ts";

/** Names in the demo's folder. */
export const PROJECT = "harbour-bikes";
export const STATE = "state";

const SEED = new URL("harbour-bikes.seed", import.meta.url);

/**
 * Creates the demo's folder from the recorded seed: a project with its history, and the state of a server with sessions. Its
 * sessions end now. The folder appears complete or not at all.
 */
export async function unpackSeed(folder: string, now = Date.now()): Promise<void> {
  await mkdir(dirname(folder), { recursive: true, mode: 0o700 });
  // Claude Code and git record real paths.
  const base = join(await realpath(dirname(folder)), basename(folder));
  const { base: from, since, until, files } = unpackArchive(await readFile(SEED));
  const relocation: Relocation = { from, to: base, since, move: (ms) => ms + now - until };
  const draft = `${base}.${process.pid}.new`;
  try {
    writeFiles(draft, files, (path, text) => (isContent(path) ? text : relocateText(relocation, text)));
    rewriteSqlite(join(draft, STATE, "tandem.db"), {
      text: (text) => relocateText(relocation, text),
      time: (ms) => relocateTime(relocation, ms),
    });
    await renameMovedStores(join(draft, STATE, "checkpoints"));
    await rename(draft, base);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** Files that git has hashed. They contain no path of the machine. */
const isContent = (path: string): boolean => path.startsWith(`${PROJECT}/`) && !path.startsWith(`${PROJECT}/.git/`);
