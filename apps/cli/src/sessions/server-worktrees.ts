import { worktree, worktreeApply, worktreeMerge, worktreePrune, worktreeStatus } from "@tandem/protocol";
import type { Worktrees } from "@tandem/sessions";
import { z } from "zod";
import type { ServerConnection } from "./server-connection.ts";

/** Worktrees of the server that is up. Who asks is whom its token belongs to. */
export function serverWorktrees(server: ServerConnection): Worktrees {
  const at = (session: string, ...steps: string[]) =>
    `/v1/sessions/${[session, "worktree", ...steps].map(encodeURIComponent).join("/")}`;
  return {
    list: async () =>
      (await server.call("GET", "/v1/worktrees", { schema: z.object({ data: z.array(worktree) }) })).data,
    status: (session) => server.call("GET", at(session), { schema: worktreeStatus }),
    patch: (session) => server.text(at(session, "patch")),
    merge: (session, body) => server.call("POST", at(session, "merge"), { schema: worktreeMerge, body }),
    apply: (session, body) => server.call("POST", at(session, "apply"), { schema: worktreeApply, body }),
    remove: async (session, body) =>
      void (await server.call("POST", at(session, "remove"), { schema: z.unknown(), body })),
    prune: (dryRun) => server.call("POST", "/v1/worktrees/prune", { schema: worktreePrune, body: { dry_run: dryRun } }),
  };
}
