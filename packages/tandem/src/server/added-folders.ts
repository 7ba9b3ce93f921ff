import { TandemError } from "@tandem/protocol";
import { readFile, realpath, stat } from "node:fs/promises";
import { join, relative } from "node:path";
import { z } from "zod";
import { ensureTandemHome, tandemHome, trustHome, type Variables } from "../config/tandem-home.ts";
import { writeFileAtomically } from "../config/write-file-atomically.ts";

const foldersFile = z.object({ version: z.literal(1), folders: z.array(z.string()) });
const fileOf = (env: Variables): string => join(trustHome(env), "folders.json");

/**
 * Folders that the user added to the server, beside `sessions.roots`. A running server reads the file for each new session,
 * so a folder needs no restart.
 */
export async function readAddedFolders(env: Variables): Promise<string[]> {
  let text: string;
  try {
    text = await readFile(fileOf(env), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
  try {
    return foldersFile.parse(JSON.parse(text)).folders;
  } catch (cause) {
    throw new TandemError("config_invalid", `${fileOf(env)} cannot be read: it is not a list of folders.`, {
      cause,
      fix: "Remove the file and add the folders again: tandem folders add",
    });
  }
}

/** Returns the real path. Rejects a folder that contains Tandem's own state, because it contains its tokens. */
export async function addFolder(env: Variables, folder: string): Promise<string> {
  const real = await realpath(folder).catch(() => undefined);
  if (real === undefined || !(await stat(real)).isDirectory()) {
    throw new TandemError("usage", `${folder} is not a folder.`, { fix: "Name a folder that exists." });
  }
  if (await containsState(env, real)) throw containsStateError(env, real);
  await ensureTandemHome(env);
  const folders = await readAddedFolders(env);
  if (!folders.includes(real)) await writeFolders(env, [...folders, real]);
  return real;
}

/** Returns whether the folder was in the list. */
export async function removeFolder(env: Variables, folder: string): Promise<boolean> {
  const named = await realpath(folder).catch(() => folder);
  const folders = await readAddedFolders(env);
  const rest = folders.filter((each) => each !== named && each !== folder);
  if (rest.length === folders.length) return false;
  await writeFolders(env, rest);
  return true;
}

/** Whether sessions in this folder could read Tandem's tokens. */
export async function containsState(env: Variables, folder: string): Promise<boolean> {
  const [real, home] = await Promise.all([folder, tandemHome(env)].map((path) => realpath(path).catch(() => path)));
  const path = relative(real!, home!);
  return path !== ".." && !path.startsWith("../");
}

export const containsStateError = (env: Variables, folder: string): TandemError =>
  new TandemError("forbidden", `Agents cannot work in ${folder}: it contains Tandem's own data (${tandemHome(env)}).`, {
    fix: "Change to the folder of a project and run the command there, or set TANDEM_HOME to a folder elsewhere.",
  });

const writeFolders = (env: Variables, folders: readonly string[]): Promise<void> =>
  writeFileAtomically(fileOf(env), `${JSON.stringify({ version: 1, folders }, null, 2)}\n`, 0o600);
