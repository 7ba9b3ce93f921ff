import type { Context } from "../context.ts";
import { openProjectOrDefaults } from "@tandem/tandem/project";
import { findSession } from "../sessions/find-session.ts";
import { openClient } from "../sessions/open-client.ts";
import { printable, styleFor, table, write } from "../terminal.ts";

/** Lists the slash commands that one may type in a session. */
export async function commands(context: Context, id: string): Promise<void> {
  await using client = await openClient(context, await openProjectOrDefaults(context), { command: "tandem commands" });
  const listed = await client.sessions.commands((await findSession(client, id)).id);
  const { stdout, json } = context;
  if (json) {
    await write(stdout, `${JSON.stringify({ commands: listed }, null, 2)}\n`);
    return;
  }
  const { bold, dim } = styleFor(stdout);
  const rows = listed.map((command) => [
    bold(`/${printable(command.name)}`) + (command.argument_hint ? dim(` ${printable(command.argument_hint)}`) : ""),
    printable(command.description ?? ""),
    dim(command.path === null ? "built in" : printable(command.path)),
  ]);
  await write(stdout, `${table(rows).join("\n")}\n`);
}

/** Runs a command in a session's folder; the model hears of it with the next message. */
export async function shell(context: Context, id: string, words: readonly string[]): Promise<number> {
  await using client = await openClient(context, await openProjectOrDefaults(context), { command: "tandem shell" });
  const session = await findSession(client, id);
  const done = await client.sessions.shell(session.id, words.join(" "), context.signal);
  const { stdout, stderr, json } = context;
  if (json) await write(stdout, `${JSON.stringify(done, null, 2)}\n`);
  else {
    const { dim } = styleFor(stderr);
    if (done.truncated) await write(stderr, dim("(The beginning was left out.)\n"));
    await write(stdout, done.output === "" || done.output.endsWith("\n") ? done.output : `${done.output}\n`);
  }
  return done.exit_code ?? 1;
}
