import { TandemError } from "@tandem/protocol";
import type { Invocation } from "../../invocation.ts";
import { findSession, isSessionId, SESSION_ARGUMENT } from "../../sessions/find-session.ts";
import { clientFor } from "../../sessions/open-client.ts";
import { printable, styleFor, table, write, writeJson, writeResult } from "../../terminal.ts";
import type { Command } from "commander";
import type { Registration } from "../registration.ts";

export function registerCommands(command: Command, { examples, json, runner }: Registration): void {
  examples(
    command.argument("[session]", SESSION_ARGUMENT).addOption(json()).action(runner(commands)),
    "tandem sessions commands",
  );
}

export function registerShell(command: Command, { examples, json, runner }: Registration): void {
  examples(
    command
      .usage("[options] [session] <command...>")
      .argument("<words...>", "session id (default: the last session of this folder) and shell command")
      .addOption(json())
      .action(runner(shell)),
    'tandem sessions shell "npm test"',
    'tandem sessions shell sesn_01JAB "npm test"',
  );
}

/** Lists the slash commands of a session. */
export async function commands(invocation: Invocation, id: string | undefined): Promise<void> {
  await using client = await clientFor("tandem sessions commands")(invocation);
  const listed = await client.sessions.commands((await findSession(client, id, invocation)).id);
  const { bold, dim } = styleFor(invocation.stdout);
  const rows = listed.map((command) => [
    bold(`/${printable(command.name)}`) + (command.argument_hint ? dim(` ${printable(command.argument_hint)}`) : ""),
    printable(command.description ?? ""),
    dim(command.path === null ? "built-in" : printable(command.path)),
  ]);
  await writeResult(invocation, { commands: listed }, table(rows));
}

/** Runs a command in a session's folder. The model sees it with the next message. */
export async function shell(invocation: Invocation, given: readonly string[]): Promise<number> {
  const [first, ...rest] = given;
  const id = isSessionId(first) ? first : undefined;
  const words = id === undefined ? given : rest;
  if (words.length === 0) {
    throw new TandemError("usage", "There is no command to run.", {
      fix: 'Give one: tandem sessions shell "npm test"',
    });
  }
  await using client = await clientFor("tandem sessions shell")(invocation);
  const session = await findSession(client, id, invocation);
  const done = await client.sessions.shell(session.id, words.join(" "), invocation.signal);
  const { stdout, stderr, json } = invocation;
  if (json) await writeJson(stdout, done);
  else {
    const { dim } = styleFor(stderr);
    if (done.truncated) await write(stderr, dim("(The beginning is omitted.)\n"));
    await write(stdout, done.output === "" || done.output.endsWith("\n") ? done.output : `${done.output}\n`);
  }
  return done.exit_code ?? 1;
}
