import { RequestError } from "@tandem/protocol";
import { jsonRoute, type Route } from "../../route.ts";

// The folder itself confines requests: paths that leave it by `..` or by a symlink are refused.

export const sessionFolderRoutes: Route[] = [
  jsonRoute("sessions.files.list", {
    scope: "read",
    at: "folder",
    extension: true,
    summary: "List a directory of a session's folder",
    handle: async ({ engine, params, query }) => ({
      data: await engine.sessions.folder.list(params.session_id, query.path),
    }),
  }),
  jsonRoute("sessions.files.search", {
    scope: "read",
    at: "folder",
    extension: true,
    summary: "Search the names or the contents of the files in a session's folder",
    handle: async ({ engine, params, query }) => {
      if (query.name === undefined && query.text === undefined) {
        throw new RequestError("invalid_request", "name or text: one of the two is needed.");
      }
      return { data: await engine.sessions.folder.search(params.session_id, query) };
    },
  }),
  jsonRoute("sessions.files.read", {
    scope: "read",
    at: "folder",
    extension: true,
    summary: "Read a file of a session's folder, as text or, where it is none, in base64",
    handle: ({ engine, params, query }) => engine.sessions.folder.read(params.session_id, query.path),
  }),
];
