import { jsonRoute, type Route } from "../../route.ts";

export const sessionCommandRoutes: Route[] = [
  jsonRoute("commands.list", {
    scope: "read",
    at: "worker",
    summary: "List the slash commands that a session in a folder would have",
    handle: async ({ engine, query }) => ({ data: await engine.sessions.commandsIn(query.folder) }),
  }),
  jsonRoute("sessions.commands.list", {
    scope: "read",
    at: "folder",
    summary: "List the slash commands of a session: its folder's, the user's and built-in ones",
    handle: async ({ engine, params }) => ({ data: await engine.sessions.commands(params.session_id) }),
  }),
  jsonRoute("sessions.shell.run", {
    scope: "run",
    at: "folder",
    summary: "Run a command in a session's folder for a person; the model sees it with the next message",
    handle: ({ engine, params, body, token, signal }) =>
      engine.sessions.shell(params.session_id, body.command, token.name, signal),
  }),
];
