import { downloadRoute, jsonRoute, uploadRoute, type Route } from "../../route.ts";
import { nextPage, toPageQuery } from "../../request/page-query.ts";

export const fileRoutes: Route[] = [
  uploadRoute("files.upload", {
    scope: "run",
    at: "here",
    summary: "Upload a file",
    handle: ({ engine, body, upload, newId }) =>
      engine.files.upload({ ...upload, id: newId("file"), expiresInSeconds: body.expires_in_seconds }),
    find: ({ engine, newId }) => engine.files.get(newId("file")),
  }),
  jsonRoute("files.list", {
    scope: "read",
    at: "here",
    summary: "List uploaded files, newest first",
    handle: async ({ engine, query }) =>
      nextPage(await engine.files.list({ ...toPageQuery(query), ids: query.ids, scope: query.scope_id })),
  }),
  jsonRoute("files.retrieveMetadata", {
    scope: "read",
    at: "here",
    summary: "Retrieve the metadata of a file",
    handle: ({ engine, params }) => engine.files.get(params.file_id),
  }),
  downloadRoute("files.download", {
    scope: "read",
    at: "here",
    summary: "Download a file",
    handle: async ({ engine, params }) => {
      const { filename, mime_type: mimeType, size_bytes: size } = await engine.files.get(params.file_id);
      const read = async () => (await engine.files.content(params.file_id)).content;
      return { filename, mimeType, size, read };
    },
  }),
  jsonRoute("files.delete", {
    scope: "run",
    at: "here",
    summary: "Delete a file",
    handle: async ({ engine, params }) => {
      await engine.files.delete(params.file_id);
      return { type: "file_deleted" as const, id: params.file_id };
    },
  }),
];
