import { TandemError } from "@tandem/protocol";
import type { Invocation } from "../../invocation.ts";
import { localActor, openProjectOrDefaults } from "@tandem/tandem/project";
import { findSession } from "../../sessions/find-session.ts";
import { openClient } from "../../sessions/open-client.ts";
import { styleFor, write } from "../../terminal.ts";
import type { Command } from "commander";
import type { Registration } from "../registration.ts";

export function registerStop(command: Command, { examples, json, runner }: Registration): void {
  examples(
    command
      .argument("[session]", "its id; `last` is the newest")
      .option("--all", "every turn is interrupted, every process ended, and nothing begins until `tandem resume`")
      .option("--reason <text>", "why, for the logs of the sessions")
      .addOption(json())
      .action((session: string | undefined, options: { all?: boolean; reason?: string }, self: Command) =>
        runner(self, (invocation) => stop(invocation, session, options)),
      ),
    "tandem stop last",
    'tandem stop --all --reason "Something is in a loop"',
  );
}

export function registerResume(command: Command, { examples, json, runner }: Registration): void {
  examples(
    command
      .addOption(json())
      .action((_options: object, self: Command) => runner(self, (invocation) => resume(invocation))),
    "tandem resume",
  );
}

/** Interrupts one session's turn, or stops all sessions until `tandem resume`. */
export async function stop(
  invocation: Invocation,
  id: string | undefined,
  { all = false, reason }: { all?: boolean; reason?: string },
): Promise<void> {
  if (all === (id !== undefined)) {
    throw new TandemError("usage", "What is to stop: one session, or everything?", {
      fix: "Name a session, such as `tandem stop last`, or give --all.",
    });
  }
  await using client = await openClient(invocation, await openProjectOrDefaults(invocation), {
    command: "tandem stop",
  });
  const { stdout, json } = invocation;
  if (id !== undefined) {
    const session = await findSession(client, id);
    await client.sessions.send(session.id, [{ type: "user.interrupt" }]);
    await write(stdout, json ? `${JSON.stringify({ session: session.id })}\n` : `${session.id} is interrupted.\n`);
    return;
  }
  const halt = await client.killSwitch.stop(localActor(), reason ?? null);
  if (json) {
    await write(stdout, `${JSON.stringify(halt)}\n`);
    return;
  }
  const { warn, dim } = styleFor(stdout);
  const turns = halt.interrupted === 1 ? "1 turn was" : `${halt.interrupted} turns were`;
  await write(stdout, `${warn("Everything is stopped.")} ${turns} interrupted.\n${dim("Go on: tandem resume")}\n`);
}

export async function resume(invocation: Invocation): Promise<void> {
  await using client = await openClient(invocation, await openProjectOrDefaults(invocation), {
    command: "tandem resume",
  });
  const was = await client.killSwitch.state();
  await client.killSwitch.resume(localActor());
  const { stdout, json } = invocation;
  const words = was ? "Everything may go on." : "Nothing was stopped.";
  await write(stdout, json ? `${JSON.stringify({ resumed: was !== undefined })}\n` : `${words}\n`);
}
