import type { MemoryFile } from "../formats/memory-file.ts";

/** Path in its store; without an explicit path it is under its scope. */
export const pathOf = ({ id, path, scope, agent }: MemoryFile): string =>
  path ?? (scope === "agent" ? `/agent/${(agent ?? "").replaceAll("/", "-") || "-"}/${id}.md` : `/${scope}/${id}.md`);
