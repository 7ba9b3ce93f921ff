import {
  worktree,
  worktreeApply,
  worktreeApplyParams,
  worktreeMerge,
  worktreeMergeParams,
  worktreePrune,
  worktreeRemoveParams,
  worktreeStatus,
} from "@tandem/protocol";
import { z } from "zod";
import { downloadRoute, jsonRoute, type Route } from "../route.ts";
import { listOf } from "../schemas/page.ts";

/** Worktrees of sessions, and the ways back. */
export const worktreeRoutes: Route[] = [
  jsonRoute({
    name: "worktrees.list",
    method: "GET",
    path: "/v1/worktrees",
    scope: "read",
    at: "each",
    extension: true,
    summary: "List the worktrees of sessions on this machine, newest first",
    response: listOf(worktree),
    handle: async ({ engine }) => ({ data: await engine.worktrees.list() }),
  }),
  jsonRoute({
    name: "worktrees.prune",
    method: "POST",
    path: "/v1/worktrees/prune",
    scope: "run",
    at: "each",
    extension: true,
    summary: "Remove worktrees of archived and deleted sessions that have no work which is nowhere else",
    body: z.strictObject({ dry_run: z.boolean().default(false) }).meta({ id: "WorktreePruneParams" }),
    response: worktreePrune,
    handle: ({ engine, body, token }) => engine.worktrees.prune(body.dry_run, token.name),
  }),
  jsonRoute({
    name: "sessions.worktree.retrieve",
    method: "GET",
    path: "/v1/sessions/:session_id/worktree",
    scope: "read",
    at: "folder",
    extension: true,
    summary: "Retrieve a session's worktree, with what was changed in it and what is nowhere else",
    response: worktreeStatus,
    handle: ({ engine, params }) => engine.worktrees.status(params.session_id),
  }),
  downloadRoute({
    name: "sessions.worktree.patch",
    method: "GET",
    path: "/v1/sessions/:session_id/worktree/patch",
    scope: "read",
    at: "folder",
    extension: true,
    summary: "Download all that was done in a session's worktree, committed or not, as a patch for git apply",
    handle: async ({ engine, params }) => {
      const content = Buffer.from(await engine.worktrees.patch(params.session_id));
      return {
        filename: `${params.session_id}.patch`,
        mimeType: "text/x-patch",
        size: content.length,
        read: async () => content,
      };
    },
  }),
  jsonRoute({
    name: "sessions.worktree.merge",
    method: "POST",
    path: "/v1/sessions/:session_id/worktree/merge",
    scope: "run",
    at: "folder",
    extension: true,
    summary: "Merge the commits of a session's worktree into the branch that it came from, or take that back",
    body: worktreeMergeParams,
    response: worktreeMerge,
    handle: ({ engine, params, body, token }) => engine.worktrees.merge(params.session_id, body, token.name),
  }),
  jsonRoute({
    name: "sessions.worktree.apply",
    method: "POST",
    path: "/v1/sessions/:session_id/worktree/apply",
    scope: "run",
    at: "folder",
    extension: true,
    summary: "Apply the patch of a session's worktree to the files of the folder that it came from, or take that back",
    body: worktreeApplyParams,
    response: worktreeApply,
    handle: ({ engine, params, body, token }) => engine.worktrees.apply(params.session_id, body, token.name),
  }),
  jsonRoute({
    name: "sessions.worktree.remove",
    method: "POST",
    path: "/v1/sessions/:session_id/worktree/remove",
    scope: "run",
    at: "folder",
    extension: true,
    summary: "Remove a session's worktree, unless work would be lost; the session is archived",
    body: worktreeRemoveParams,
    response: z.object({ type: z.literal("worktree_removed"), session_id: z.string() }),
    handle: async ({ engine, params, body, token }) => {
      await engine.worktrees.remove(params.session_id, body, token.name);
      return { type: "worktree_removed" as const, session_id: params.session_id };
    },
  }),
];
