import { file } from "@tandem/protocol";
import { z } from "zod";
import { downloadRoute, jsonRoute, uploadRoute, type Route } from "../route.ts";
import { deletedOf, nextPage, pageOf, pageQuery, toPageQuery } from "../schemas/page.ts";

/** A hundred years: a time that no client could read any more is none. */
const LONGEST_SECONDS = 100 * 365 * 24 * 60 * 60;

export const fileRoutes: Route[] = [
  uploadRoute({
    name: "files.upload",
    method: "POST",
    path: "/v1/files",
    scope: "run",
    at: "here",
    summary: "Upload a file",
    body: z.strictObject({ expires_in_seconds: z.coerce.number().int().min(1).max(LONGEST_SECONDS).optional() }),
    response: file,
    handle: ({ engine, body, upload }) => engine.files.upload({ ...upload, expiresInSeconds: body.expires_in_seconds }),
  }),
  jsonRoute({
    name: "files.list",
    method: "GET",
    path: "/v1/files",
    scope: "read",
    at: "here",
    summary: "List uploaded files, newest first",
    query: z.strictObject({ ...pageQuery, ids: z.array(z.string()).optional(), scope_id: z.string().optional() }),
    response: pageOf(file),
    handle: async ({ engine, query }) =>
      nextPage(await engine.files.list({ ...toPageQuery(query), ids: query.ids, scope: query.scope_id })),
  }),
  jsonRoute({
    name: "files.retrieveMetadata",
    method: "GET",
    path: "/v1/files/:file_id",
    scope: "read",
    at: "here",
    summary: "Retrieve what is known about a file",
    response: file,
    handle: ({ engine, params }) => engine.files.get(params.file_id),
  }),
  downloadRoute({
    name: "files.download",
    method: "GET",
    path: "/v1/files/:file_id/content",
    scope: "read",
    at: "here",
    summary: "Download a file",
    handle: async ({ engine, params }) => {
      const { filename, mime_type: mimeType, size_bytes: size } = await engine.files.get(params.file_id);
      const read = async () => (await engine.files.content(params.file_id)).content;
      return { filename, mimeType, size, read };
    },
  }),
  jsonRoute({
    name: "files.delete",
    method: "DELETE",
    path: "/v1/files/:file_id",
    scope: "run",
    at: "here",
    summary: "Delete a file",
    response: deletedOf("file_deleted"),
    handle: async ({ engine, params }) => {
      await engine.files.delete(params.file_id);
      return { type: "file_deleted" as const, id: params.file_id };
    },
  }),
];
