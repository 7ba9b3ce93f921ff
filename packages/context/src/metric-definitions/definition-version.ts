import { createHash } from "node:crypto";
import type { ContextFolder } from "../folder/context-folder.ts";
import type { DefinitionFile } from "./metrics-reader.ts";

/**
 * The version of each file by path: the commit that changed it last. A text that is not committed adds its hash:
 * `3f2a9c10d4e5+8b1f0a77`, or `uncommitted+8b1f0a77` for a new file.
 */
export async function definitionVersions(
  folder: ContextFolder,
  files: readonly Pick<DefinitionFile, "path" | "text">[],
): Promise<ReadonlyMap<string, string>> {
  const versions = await Promise.all(
    files.map(async ({ path, text }) => {
      const last = await folder.lastChange(path);
      const commit = last?.commit.slice(0, 12) ?? "uncommitted";
      return [path, last?.isCurrent ? commit : `${commit}+${hashOf(text)}`] as const;
    }),
  );
  return new Map(versions);
}

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 8);
