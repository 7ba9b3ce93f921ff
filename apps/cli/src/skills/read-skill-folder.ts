import { TandemError } from "@tandem/protocol";
import { readdir, readFile, realpath, stat } from "node:fs/promises";
import { basename, join, resolve } from "node:path";

/** The size limit of an upload; reading stops there. */
const MAX_BYTES = 32 * 1_048_576;
/** Left out: git's own files are no part of a skill. */
const SKIPPED = new Set([".git", ".DS_Store"]);

/** The files of a skill's folder with their paths, as the API takes them. A zip archive is passed as it is. */
export async function readSkillFolder(cwd: string, path: string): Promise<{ filename: string; content: Uint8Array }[]> {
  const full = resolve(cwd, path);
  const found = await stat(full).catch(() => undefined);
  if (!found) {
    throw new TandemError("usage", `There is no folder ${path}.`, { fix: "Name the folder that has the SKILL.md." });
  }
  if (found.isFile()) return [{ filename: basename(full), content: await readFile(full) }];
  const files: { filename: string; content: Uint8Array }[] = [];
  const root = await realpath(full);
  let bytes = 0;
  const read = async (folder: string, prefix: string): Promise<void> => {
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      if (SKIPPED.has(entry.name)) continue;
      const [file, name] = [join(folder, entry.name), `${prefix}/${entry.name}`];
      if (entry.isDirectory()) await read(file, name);
      else if (entry.isFile()) {
        const content = await readFile(file);
        bytes += content.length;
        if (bytes > MAX_BYTES) {
          throw new TandemError("usage", `${path} has more than 30 MB, the limit of a skill.`, {
            fix: "Leave out large files.",
          });
        }
        files.push({ filename: name, content });
      } else {
        throw new TandemError("usage", `${name} is a link or a special file, which a skill cannot have.`, {
          fix: "Replace it with a copy of its target.",
        });
      }
    }
  };
  await read(root, basename(root));
  return files;
}
