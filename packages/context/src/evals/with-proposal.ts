import { RequestError } from "@tandem/protocol";
import type { ContextFolder } from "../folder/context-folder.ts";
import { applyHunks } from "../proposals/apply-hunks.ts";
import type { Proposals } from "../proposals/proposals.ts";

/** The context's files as they would be if all open hunks of a proposal were accepted. Nothing is written. */
export async function withProposal(
  folder: ContextFolder,
  proposals: Pick<Proposals, "get">,
  id: string,
): Promise<ContextFolder> {
  const proposal = await proposals.get(id);
  if (!proposal) throw new RequestError("not_found", `There is no proposal ${id}.`, { fix: "List them." });
  const changed = new Map<string, string | null>();
  for (const change of proposal.changes) {
    const open = new Set(change.hunks.filter(({ state }) => state === "open").map((hunk) => hunk.id));
    if (open.size === 0) continue;
    const { text } = applyHunks(change, open, (await folder.read(change.path)) ?? null);
    changed.set(change.path, text);
  }
  if (changed.size === 0) {
    throw new RequestError("invalid_request", `The proposal ${id} has nothing that awaits a decision.`, {
      fix: "Check an open proposal.",
    });
  }
  return overlay(folder, changed);
}

function overlay(folder: ContextFolder, changed: ReadonlyMap<string, string | null>): ContextFolder {
  const isGone = (path: string) => changed.get(path) === null;
  const added = (prefix = "") =>
    [...changed].flatMap(([path, text]) => (text !== null && path.startsWith(prefix) ? [path] : []));
  const refuse = (): never => {
    throw new RequestError("not_supported", "A preview of a proposal cannot be changed.");
  };
  return {
    id: folder.id,
    path: folder.path,
    list: async (prefix) =>
      [...new Set([...(await folder.list(prefix)), ...added(prefix)])].filter((path) => !isGone(path)).sort(),
    stamps: async (prefix) => {
      const stamps = new Map(await folder.stamps(prefix));
      for (const path of added(prefix)) stamps.set(path, "proposed");
      for (const path of stamps.keys()) if (isGone(path)) stamps.delete(path);
      return stamps;
    },
    read: async (path) => (changed.has(path) ? (changed.get(path) ?? undefined) : await folder.read(path)),
    log: (limit) => folder.log(limit),
    lastChange: (path) => folder.lastChange(path),
    head: () => folder.head(),
    handLines: (paths) => folder.handLines(paths),
    handEdits: (paths) => folder.handEdits(paths),
    commit: async () => refuse(),
    worktree: async () => refuse(),
    revert: async () => refuse(),
    exclusive: async () => refuse(),
  };
}
