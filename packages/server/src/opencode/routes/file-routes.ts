import { resolve } from "node:path";
import { RequestError } from "@tandem/protocol";
import type { OpencodeCall, OpencodeRoute } from "./opencode-route.ts";

const MAX_FOUND = 100;

/** Files of the folder that the client works in, through the last session that works there. */
export const fileRoutes: OpencodeRoute[] = [
  {
    method: "GET",
    path: "/find/file",
    scope: "read",
    handle: async (call) => {
      const session = await sessionIn(call);
      const name = call.query.get("query") ?? "";
      if (session === undefined || call.query.get("type") === "directory") return [];
      const limit = Math.min(Number(call.query.get("limit") ?? MAX_FOUND) || MAX_FOUND, MAX_FOUND);
      if (name === "") {
        const entries = await call.engine.sessions.folder.list(session, "");
        return entries.slice(0, limit).map(({ path, type }) => (type === "folder" ? `${path}/` : path));
      }
      return (await call.engine.sessions.folder.search(session, { name, limit })).map(({ path }) => path);
    },
  },
  {
    method: "GET",
    path: "/find",
    scope: "read",
    handle: async (call) => {
      const session = await sessionIn(call);
      const text = call.query.get("pattern") ?? "";
      if (session === undefined || text === "") return [];
      const hits = await call.engine.sessions.folder.search(session, { text, limit: MAX_FOUND });
      return hits.map((hit) => ({
        path: { text: hit.path },
        lines: { text: hit.text ?? "" },
        line_number: hit.line ?? 0,
        absolute_offset: 0,
        submatches: [],
      }));
    },
  },
  {
    method: "GET",
    path: "/file",
    scope: "read",
    handle: async (call) => {
      const session = await needSession(call);
      const entries = await call.engine.sessions.folder.list(session, call.query.get("path") ?? "");
      return entries.map(({ name, path, type }) => ({
        name,
        path,
        absolute: resolve(call.directory, path),
        type: type === "folder" ? "directory" : "file",
        ignored: false,
      }));
    },
  },
  {
    method: "GET",
    path: "/file/content",
    scope: "read",
    handle: async (call) => {
      const file = await call.engine.sessions.folder.read(await needSession(call), call.query.get("path") ?? "");
      return "text" in file
        ? { type: "text", content: file.text }
        : { type: "binary", content: file.base64, encoding: "base64" };
    },
  },
  { method: "GET", path: "/file/status", scope: "read", handle: async () => [] },
];

async function sessionIn({ hub, directory }: OpencodeCall): Promise<string | undefined> {
  return (await hub.list()).find(({ folder }) => folder === directory)?.id;
}

async function needSession(call: OpencodeCall): Promise<string> {
  const session = await sessionIn(call);
  if (session !== undefined) return session;
  throw new RequestError("not_found", `No session works in ${call.directory}.`, { fix: "Create one there first." });
}
