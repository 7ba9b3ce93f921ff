import { RequestError } from "@tandem/protocol";
import { z } from "zod";
import { jsonRoute, type Route } from "../route.ts";
import { listOf } from "../schemas/page.ts";

const entry = z
  .object({ name: z.string(), path: z.string(), type: z.enum(["file", "folder", "link"]), size: z.number() })
  .meta({ id: "FolderEntry" });
const hit = z
  .object({ path: z.string(), line: z.int().optional(), text: z.string().optional() })
  .meta({ id: "SearchHit" });
const content = z
  .union([
    z.object({ path: z.string(), size: z.number(), truncated: z.boolean(), text: z.string() }),
    z.object({ path: z.string(), size: z.number(), truncated: z.boolean(), base64: z.string() }),
  ])
  .meta({ id: "FolderFile" });

// The folder itself keeps requests inside: no path that leaves it, be it by `..` or by a link, is followed.

export const sessionFolderRoutes: Route[] = [
  jsonRoute({
    name: "sessions.files.list",
    method: "GET",
    path: "/v1/sessions/:session_id/files",
    scope: "read",
    at: "folder",
    extension: true,
    summary: "List a directory of a session's folder",
    query: z.strictObject({ path: z.string().default("") }),
    response: listOf(entry),
    handle: async ({ engine, params, query }) => ({
      data: await engine.sessions.folder.list(params.session_id, query.path),
    }),
  }),
  jsonRoute({
    name: "sessions.files.search",
    method: "GET",
    path: "/v1/sessions/:session_id/files/search",
    scope: "read",
    at: "folder",
    extension: true,
    summary: "Search the names or the contents of the files in a session's folder",
    query: z.strictObject({
      name: z.string().min(1).optional(),
      text: z.string().min(1).optional(),
      limit: z.coerce.number().int().min(1).max(1_000).default(100),
    }),
    response: listOf(hit),
    handle: async ({ engine, params, query }) => {
      if (query.name === undefined && query.text === undefined) {
        throw new RequestError("invalid_request", "name or text: one of the two is needed.");
      }
      return { data: await engine.sessions.folder.search(params.session_id, query) };
    },
  }),
  jsonRoute({
    name: "sessions.files.read",
    method: "GET",
    path: "/v1/sessions/:session_id/files/content",
    scope: "read",
    at: "folder",
    extension: true,
    summary: "Read a file of a session's folder, as text or, where it is none, in base64",
    query: z.strictObject({ path: z.string().min(1) }),
    response: content,
    handle: ({ engine, params, query }) => engine.sessions.folder.read(params.session_id, query.path),
  }),
];
