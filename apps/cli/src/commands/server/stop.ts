import { TandemError } from "@tandem/protocol";
import type { Invocation } from "../../invocation.ts";
import { localActor } from "@tandem/tandem/project";
import { findSession, SESSION_ARGUMENT } from "../../sessions/find-session.ts";
import { clientFor } from "../../sessions/open-client.ts";
import type { SessionsClient } from "../../sessions/sessions-client.ts";
import { styleFor, write } from "../../terminal.ts";
import type { Command } from "commander";
import type { Registration } from "../registration.ts";

interface StopOptions {
  all?: boolean;
  undo?: boolean;
  reason?: string;
}

export function register(command: Command, { examples, json, runner }: Registration): void {
  examples(
    command
      .argument("[session]", SESSION_ARGUMENT)
      .option("--all", "interrupt every turn, end every process and start nothing until `tandem stop --undo`")
      .option("--undo", "end a `tandem stop --all`")
      .option("--reason <text>", "reason, for the logs of the sessions")
      .addOption(json())
      .action(runner(stop)),
    "tandem stop",
    "tandem stop last",
    'tandem stop --all --reason "An agent is in a loop"',
    "tandem stop --undo",
  );
}

const open = clientFor("tandem stop");

/** Interrupts one session's turn, or stops all sessions until `--undo`. */
async function stop(invocation: Invocation, id: string | undefined, options: StopOptions): Promise<void> {
  const { all = false, undo = false, reason } = options;
  if (Number(all) + Number(undo) + Number(id !== undefined) > 1) {
    throw new TandemError("usage", "A session, --all and --undo exclude each other.", { fix: "Give one of them." });
  }
  await using client = await open(invocation);
  if (undo) {
    // Awaited here: a returned promise would settle after the client is closed.
    await undoStop(invocation, client);
    return;
  }
  const { stdout, json } = invocation;
  if (!all) {
    const session = await findSession(client, id, invocation);
    await client.sessions.send(session.id, [{ type: "user.interrupt" }]);
    await write(stdout, json ? `${JSON.stringify({ session: session.id })}\n` : `Interrupted ${session.id}.\n`);
    return;
  }
  const halt = await client.killSwitch.stop(localActor(), reason ?? null);
  if (json) {
    await write(stdout, `${JSON.stringify(halt)}\n`);
    return;
  }
  const { warn, dim } = styleFor(stdout);
  const turns = halt.interrupted === 1 ? "1 turn was" : `${halt.interrupted} turns were`;
  await write(stdout, `${warn("Everything is stopped.")} ${turns} interrupted.\n${dim("Undo: tandem stop --undo")}\n`);
}

async function undoStop({ stdout, json }: Invocation, client: SessionsClient): Promise<void> {
  const was = await client.killSwitch.state();
  await client.killSwitch.resume(localActor());
  const text = was ? "Sessions can run again." : "Nothing was stopped.";
  await write(stdout, json ? `${JSON.stringify({ resumed: was !== undefined })}\n` : `${text}\n`);
}
