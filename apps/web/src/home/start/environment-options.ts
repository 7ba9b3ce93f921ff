import { type Environment, ENVIRONMENT_METADATA } from "@tandem/protocol";
import type { Option } from "../../ui/select.tsx";
import { folderName } from "../../text/path-labels.ts";
import type { SessionOptions } from "./start-session.ts";

/** The existing environments, a worktree of each folder, and a free choice of folder. */
export function environmentOptions(environments: readonly Environment[]): Option[] {
  const { path, isolation, branch } = ENVIRONMENT_METADATA;
  const present = environments.filter(({ archived_at }) => archived_at === null);
  const options = present.map(({ id, name, metadata }): Option => {
    const folder = metadata[path];
    if (folder === undefined) return { value: id, label: `${name}: a separate folder` };
    const from = metadata[branch] === undefined ? "" : ` from ${metadata[branch]}`;
    const own = metadata[isolation] === "worktree" ? ` in a new worktree${from}` : "";
    return { value: id, label: `${folderName(folder)}${own}` };
  });
  const plain = present.flatMap(({ metadata }) =>
    metadata[path] !== undefined && metadata[isolation] === undefined ? [metadata[path]] : [],
  );
  const hasWorktrees = new Set(
    present.flatMap(({ metadata }) => (metadata[isolation] === "worktree" ? [metadata[path]] : [])),
  );
  const worktrees = [...new Set(plain)]
    .filter((folder) => !hasWorktrees.has(folder))
    .map((folder) => ({ value: `worktree:${folder}`, label: `${folderName(folder)} in a new worktree` }));
  return [...options, ...worktrees, { value: "folder", label: "Another folder …" }];
}

/** The folder of an option; undefined if it does not exist yet or was not entered. */
export function folderOf(
  { place, folder }: Pick<SessionOptions, "place" | "folder">,
  environments: readonly Environment[],
): string | undefined {
  if (place === "folder") return folder.trim() === "" ? undefined : folder.trim();
  if (place.startsWith("worktree:")) return place.slice("worktree:".length);
  return environments.find(({ id }) => id === place)?.metadata[ENVIRONMENT_METADATA.path];
}
