import { z } from "zod";
import { tandemMessageEvents } from "../../events/tandem/message-event.ts";
import { listOf } from "../page.ts";

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
export type SlashCommand = z.infer<typeof slashCommand>;

export const commandsApi = {
  "commands.list": { query: z.strictObject({ folder: z.string().min(1) }), response: listOf(slashCommand) },
  "sessions.commands.list": { response: listOf(slashCommand) },
  "sessions.shell.run": {
    body: z.strictObject({ command: z.string().min(1).max(10_000) }).meta({ id: "ShellCommand" }),
    response: tandemMessageEvents["tandem.shell"],
  },
};
