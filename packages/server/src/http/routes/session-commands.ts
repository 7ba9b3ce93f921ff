import { z } from "zod";
import { jsonRoute, type Route } from "../route.ts";
import { listOf } from "../schemas/page.ts";
import { sessionEvent } from "../schemas/session-event-schema.ts";

const slashCommand = z
  .object({
    name: z.string(),
    description: z.string().nullable(),
    argument_hint: z.string().nullable(),
    model: z.string().nullable(),
    agent: z.string().nullable(),
    source: z.enum(["project", "user", "built_in"]),
    path: z.string().nullable(),
    runs_shell: z.boolean(),
  })
  .meta({ id: "SlashCommand" });

export const sessionCommandRoutes: Route[] = [
  jsonRoute({
    name: "commands.list",
    method: "GET",
    path: "/v1/commands",
    scope: "read",
    at: "worker",
    extension: true,
    summary: "List the slash commands that a session in a folder would have",
    query: z.strictObject({ folder: z.string().min(1) }),
    response: listOf(slashCommand),
    handle: async ({ engine, query }) => ({ data: await engine.sessions.commandsIn(query.folder) }),
  }),
  jsonRoute({
    name: "sessions.commands.list",
    method: "GET",
    path: "/v1/sessions/:session_id/commands",
    scope: "read",
    at: "folder",
    extension: true,
    summary: "List the slash commands of a session: of its folder, of the user, and built in ones",
    response: listOf(slashCommand),
    handle: async ({ engine, params }) => ({ data: await engine.sessions.commands(params.session_id) }),
  }),
  jsonRoute({
    name: "sessions.shell.run",
    method: "POST",
    path: "/v1/sessions/:session_id/shell",
    scope: "run",
    at: "folder",
    extension: true,
    summary: "Run a command in a session's folder for a person; the model hears of it with the next message",
    body: z.strictObject({ command: z.string().min(1).max(10_000) }).meta({ id: "ShellCommand" }),
    response: sessionEvent,
    handle: ({ engine, params, body, token, signal }) =>
      engine.sessions.shell(params.session_id, body.command, token.name, signal),
  }),
];
