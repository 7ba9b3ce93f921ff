import { downloadRoute, jsonRoute, type Route } from "../../route.ts";

/** Worktrees of sessions, and how their changes return. */
export const worktreeRoutes: Route[] = [
  jsonRoute("worktrees.list", {
    scope: "read",
    at: "each",
    summary: "List the worktrees of sessions on this machine, newest first",
    handle: async ({ engine }) => ({ data: await engine.worktrees.list() }),
  }),
  jsonRoute("worktrees.prune", {
    scope: "run",
    at: "each",
    summary: "Remove worktrees of archived and deleted sessions, unless that would lose work",
    handle: ({ engine, body, token }) => engine.worktrees.prune(body.dry_run, token.name),
  }),
  jsonRoute("sessions.worktree.retrieve", {
    scope: "read",
    at: "folder",
    summary: "Retrieve a session's worktree, with its changes and the work that exists only there",
    handle: ({ engine, params }) => engine.worktrees.status(params.session_id),
  }),
  downloadRoute("sessions.worktree.patch", {
    scope: "read",
    at: "folder",
    summary: "Download all changes in a session's worktree, committed or not, as a patch for git apply",
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
  jsonRoute("sessions.worktree.merge", {
    scope: "run",
    at: "folder",
    summary: "Merge the commits of a session's worktree into its source branch, or undo that",
    handle: ({ engine, params, body, token }) => engine.worktrees.merge(params.session_id, body, token.name),
  }),
  jsonRoute("sessions.worktree.apply", {
    scope: "run",
    at: "folder",
    summary: "Apply the patch of a session's worktree to the files of its source folder, or undo that",
    handle: ({ engine, params, body, token }) => engine.worktrees.apply(params.session_id, body, token.name),
  }),
  jsonRoute("sessions.worktree.remove", {
    scope: "run",
    at: "folder",
    summary: "Remove a session's worktree, unless that would lose work; the session is archived",
    handle: async ({ engine, params, body, token }) => {
      await engine.worktrees.remove(params.session_id, body, token.name);
      return { type: "worktree_removed" as const, session_id: params.session_id };
    },
  }),
];
