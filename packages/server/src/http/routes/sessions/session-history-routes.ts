import { requireScopeForMode } from "../../access/require-scope-for-mode.ts";
import { jsonRoute, type Route } from "../../route.ts";

export const sessionHistoryRoutes: Route[] = [
  jsonRoute("sessions.checkpoints", {
    scope: "read",
    at: "folder",
    summary: "List a session's turns, and the checkpoints of its folder",
    handle: ({ engine, params }) => engine.history.checkpoints(params.session_id),
  }),
  jsonRoute("sessions.diff", {
    scope: "read",
    at: "folder",
    summary: "Diff a session's files: of one turn, of all turns, or between two checkpoints (`now` is one, too)",
    handle: ({ engine, params, query }) =>
      engine.history.diff(params.session_id, { ...query, patch: query.patch === "true" }),
  }),
  jsonRoute("sessions.cassette", {
    scope: "read",
    at: "folder",
    summary: "Export a session as a cassette: its model answers, calls, events and files, for a replay",
    longRunning: true,
    handle: ({ engine, params }) => engine.history.cassette(params.session_id),
  }),
  jsonRoute("sessions.rewind", {
    scope: "run",
    at: "folder",
    summary: "Rewind files, conversation or both to before a turn, or list what that would change",
    handle: ({ engine, params, body, token }) => engine.history.rewind(params.session_id, body, token.name),
  }),
  jsonRoute("sessions.undoRewind", {
    scope: "run",
    at: "folder",
    summary: "Undo the last rewind",
    handle: ({ engine, params, body, token }) => engine.history.undoRewind(params.session_id, body, token.name),
  }),
  jsonRoute("sessions.fork", {
    scope: "run",
    at: "folder",
    summary: "Fork a session: start a new one with its history up to a message",
    longRunning: true,
    handle: async ({ engine, params, body, token }) => {
      // The fork starts in the same mode.
      const { metadata } = await engine.sessions.get(params.session_id);
      requireScopeForMode(token, metadata);
      return engine.history.fork(params.session_id, body, token.name);
    },
  }),
  jsonRoute("sessions.compact", {
    scope: "run",
    at: "here",
    summary: "Compact the conversation: a separate turn replaces it with a summary",
    handle: async ({ engine, params, token }) => {
      await engine.history.compact(params.session_id, token.name);
      return { type: "session_compacting" as const, id: params.session_id };
    },
  }),
];
