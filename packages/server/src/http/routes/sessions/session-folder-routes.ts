import { RequestError } from "@tandem/protocol";
import { jsonRoute, type Route } from "../../route.ts";

// The folder itself confines requests: paths that leave it by `..` or by a symlink are refused.

export const sessionFolderRoutes: Route[] = [
  jsonRoute("sessions.files.list", {
    scope: "read",
    at: "folder",
    summary: "List a directory of a session's folder",
    handle: async ({ engine, params, query }) => ({
      data: await engine.sessions.folder.list(params.session_id, query.path),
    }),
  }),
  jsonRoute("sessions.files.search", {
    scope: "read",
    at: "folder",
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
    summary: "Read a file of a session's folder, as text or, if it is binary, in base64",
    handle: ({ engine, params, query }) => engine.sessions.folder.read(params.session_id, query.path),
  }),
  jsonRoute("sessions.files.write", {
    scope: "run",
    at: "folder",
    summary: "Write a file of a session's folder while no turn runs",
    handle: ({ engine, params, body, token }) =>
      engine.sessions.folder.write(
        params.session_id,
        { path: body.path, content: contentOf(body), sha256: body.sha256 },
        token.name,
      ),
  }),
  jsonRoute("sessions.files.move", {
    scope: "run",
    at: "folder",
    summary: "Move a file or folder of a session's folder while no turn runs",
    handle: ({ engine, params, body, token }) => engine.sessions.folder.move(params.session_id, body, token.name),
  }),
  jsonRoute("sessions.files.makeFolder", {
    scope: "run",
    at: "folder",
    summary: "Create a folder in a session's folder while no turn runs",
    handle: ({ engine, params, body, token }) =>
      engine.sessions.folder.makeFolder(params.session_id, body.path, token.name),
  }),
  jsonRoute("sessions.files.delete", {
    scope: "run",
    at: "folder",
    summary: "Delete a file or folder of a session's folder while no turn runs",
    handle: ({ engine, params, query, token }) =>
      engine.sessions.folder.delete(params.session_id, { ...query, recursive: query.recursive === "true" }, token.name),
  }),
];

function contentOf({ text, base64 }: { text?: string | undefined; base64?: string | undefined }): Uint8Array {
  if ((text === undefined) === (base64 === undefined)) {
    throw new RequestError("invalid_request", "text or base64: exactly one of the two is needed.");
  }
  return text === undefined ? Buffer.from(base64 ?? "", "base64") : Buffer.from(text, "utf8");
}
