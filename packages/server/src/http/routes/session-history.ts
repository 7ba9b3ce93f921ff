import {
  forkParams,
  rewindOutcome,
  rewindParams,
  rewindUndoParams,
  session,
  sessionCheckpoints,
  sessionDiff,
} from "@tandem/protocol";
import { z } from "zod";
import { jsonRoute, type Route } from "../route.ts";

export const sessionHistoryRoutes: Route[] = [
  jsonRoute({
    name: "sessions.checkpoints",
    method: "GET",
    path: "/v1/sessions/:session_id/checkpoints",
    scope: "read",
    at: "folder",
    extension: true,
    summary: "List a session's turns, and the checkpoints of its folder",
    response: sessionCheckpoints,
    handle: ({ engine, params }) => engine.history.checkpoints(params.session_id),
  }),
  jsonRoute({
    name: "sessions.diff",
    method: "GET",
    path: "/v1/sessions/:session_id/diff",
    scope: "read",
    at: "folder",
    extension: true,
    summary: "How a session's files changed: in a turn, in all, or between two checkpoints (`now` is one, too)",
    query: z.strictObject({
      from: z.string().min(1).optional(),
      to: z.string().min(1).optional(),
      turn: z.coerce.number().int().min(1).optional(),
      /** Whether patches come along, or only counts. */
      patch: z.enum(["true", "false"]).default("true"),
    }),
    response: sessionDiff,
    handle: ({ engine, params, query }) =>
      engine.history.diff(params.session_id, { ...query, patch: query.patch === "true" }),
  }),
  jsonRoute({
    name: "sessions.rewind",
    method: "POST",
    path: "/v1/sessions/:session_id/rewind",
    scope: "run",
    at: "folder",
    extension: true,
    summary: "Put files, conversation or both where they stood before a turn; or say what that would change",
    body: rewindParams,
    response: rewindOutcome,
    handle: ({ engine, params, body, token }) => engine.history.rewind(params.session_id, body, token.name),
  }),
  jsonRoute({
    name: "sessions.undoRewind",
    method: "POST",
    path: "/v1/sessions/:session_id/rewind/undo",
    scope: "run",
    at: "folder",
    extension: true,
    summary: "Take the last rewind back",
    body: rewindUndoParams,
    response: rewindOutcome,
    handle: ({ engine, params, body, token }) => engine.history.undoRewind(params.session_id, body, token.name),
  }),
  jsonRoute({
    name: "sessions.fork",
    method: "POST",
    path: "/v1/sessions/:session_id/fork",
    scope: "run",
    at: "folder",
    extension: true,
    summary: "Begin a new session with the past of this one, up to a message",
    body: forkParams,
    response: session,
    patient: true,
    handle: ({ engine, params, body, token }) => engine.history.fork(params.session_id, body, token.name),
  }),
  jsonRoute({
    name: "sessions.compact",
    method: "POST",
    path: "/v1/sessions/:session_id/compact",
    scope: "run",
    at: "here",
    extension: true,
    summary: "Replace the conversation so far by a summary of it, in a turn of its own",
    response: z.object({ type: z.literal("session_compacting"), id: z.string() }),
    handle: async ({ engine, params, token }) => {
      await engine.history.compact(params.session_id, token.name);
      return { type: "session_compacting" as const, id: params.session_id };
    },
  }),
];
